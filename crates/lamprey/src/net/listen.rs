//! Accepting, and the back-off of an accept loop when the process runs out of descriptors.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, SocketAddrAny};

use super::simulated;
use super::transfer::SOCKET_FLAGS;
use crate::driver::readiness::Interest;
use crate::driver::uring::op;
use crate::io::closed::is_closed;
use crate::io::ready::reads_to_an_end;
use crate::io::socket::Socket;
use crate::io::socket::perform::Forms;
use crate::sched::Wait;
use crate::time::pauses::Pauses;
use crate::world;

/// The length of the kernel's queue of connections that have not been accepted; the kernel lowers it to
/// `/proc/sys/net/core/somaxconn`.
pub(super) const BACKLOG: i32 = 4096;

/// The inner type of a listener.
pub(super) trait Listening: AsFd {
    /// The kernel says of one that has been shut down that there is nothing to accept, and not that there never will be.
    const HIDES_ITS_END: bool;
}

impl Listening for std::net::TcpListener {
    const HIDES_ITS_END: bool = false;
}

impl Listening for std::os::unix::net::UnixListener {
    const HIDES_ITS_END: bool = true;
}

/// The error of one that has been shut down, also where the kernel hides it. (It may have been shut down through another value.)
fn end_or<S: Listening>(fd: BorrowedFd<'_>, error: Errno) -> Errno {
    if S::HIDES_ITS_END && error == Errno::AGAIN && reads_to_an_end(fd) { Errno::INVAL } else { error }
}

/// One connection, with the peer's address as the kernel gives it.
pub(super) fn accept<S: Listening>(listener: &Socket<S>) -> io::Result<(OwnedFd, Option<SocketAddrAny>)> {
    if listener.connections_ahead().is_some() {
        return listener.attempt(Interest::Read, Wait::Accept, None, |fd| try_accept(listener, fd));
    }
    let forms = Forms {
        attempt: |_: &mut (), fd: BorrowedFd<'_>| accept_now(fd).map_err(|error| end_or::<S>(fd, error)),
        perform: |_: &mut (), here, fd: BorrowedFd<'_>, _| {
            listener.set_behind(Interest::Read, false);
            let end_or =
                |error| Errno::from_io_error(&error).map_or(error, |code| end_or::<S>(fd, code).into());
            op::accept::accept(here, fd).map_err(end_or)
        },
    };
    listener.attempt_or_perform((Interest::Read, Wait::Accept, None), (), forms)
}

/// The awaitable form of [`accept`].
pub(super) fn accept_async<S: Listening>(
    listener: &Socket<S>,
) -> impl Future<Output = io::Result<(OwnedFd, Option<SocketAddrAny>)>> {
    listener.attempt_async(Interest::Read, None, |fd| try_accept(listener, fd))
}

/// The poll form of [`accept`].
pub(super) fn poll_accept<S: Listening>(
    listener: &Socket<S>,
    context: &Context<'_>,
) -> Poll<io::Result<(OwnedFd, Option<SocketAddrAny>)>> {
    listener.poll_attempt(Interest::Read, context, |fd| try_accept(listener, fd))
}

/// Accepts what is there, by the system call.
fn accept_now(fd: BorrowedFd<'_>) -> Result<(OwnedFd, Option<SocketAddrAny>), Errno> {
    match net::acceptfrom_with(fd, SOCKET_FLAGS) {
        Err(Errno::INVAL) => simulated::accept(fd),
        accepted => accepted,
    }
}

/// Accepts what is there.
fn try_accept<S: Listening>(
    listener: &Socket<S>,
    fd: BorrowedFd<'_>,
) -> Result<(OwnedFd, Option<SocketAddrAny>), Errno> {
    let accepted = match listener.connections_ahead() {
        None => accept_now(fd),
        Some(ahead) => {
            let take = |arrived: &mut VecDeque<OwnedFd>| arrived.pop_front().map(|fd| (fd, None));
            let accepted = ahead.attempt(fd, take, || Err(Errno::INVAL), || accept_now(fd).map(Some));
            accepted.and_then(|accepted| accepted.ok_or(Errno::AGAIN))
        }
    };
    accepted.map_err(|error| end_or::<S>(fd, error))
}

/// How often a listener is bound whose address is in use: see [`TcpListener::bind`](super::TcpListener::bind).
pub(super) struct BindTries(Pauses);

impl BindTries {
    pub(super) fn new() -> Self {
        Self(Pauses::new(Duration::from_millis(1), Duration::from_millis(64)))
    }

    /// The pause before the next try; `None` if this was the last one.
    pub(super) fn pause_after<T>(&mut self, bound: &io::Result<T>) -> Option<Duration> {
        let in_use = bound.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse);
        if !in_use || world::is_simulated() {
            return None;
        }
        Some(self.0.next()).filter(|pause| *pause <= Duration::from_millis(32))
    }
}

/// The back-off of an accept loop: how long it pauses after an error, and which errors end it.
pub struct AcceptBackoff(Pauses);

impl AcceptBackoff {
    pub(super) fn new() -> Self {
        Self(Pauses::new(Duration::from_millis(5), Duration::from_secs(1)))
    }

    /// Returns when it is time to accept again.
    pub(super) fn wait_after<S: AsFd>(&mut self, listener: &Socket<S>, error: io::Error) -> io::Result<()> {
        if let Some(pause) = self.pause_after(error)? {
            listener.pause(Wait::AcceptPause, pause)?;
            listener.check_open()?;
        }
        Ok(())
    }

    /// The awaitable form of [`wait_after`](Self::wait_after).
    pub(super) async fn wait_after_async<S: AsFd>(
        &mut self,
        listener: &Socket<S>,
        error: io::Error,
    ) -> io::Result<()> {
        if let Some(pause) = self.pause_after(error)? {
            listener.pause_async(pause).await?;
            listener.check_open()?;
        }
        Ok(())
    }

    /// How long to pause before the next try, if at all; the error, if there should be none.
    fn pause_after(&mut self, error: io::Error) -> io::Result<Option<Duration>> {
        if exhausted(&error) {
            return Ok(Some(self.0.next()));
        }
        if of_one_connection(&error) { Ok(None) } else { Err(error) }
    }
}

/// The process or the machine has no resources for another connection, which stays in the listener's queue.
pub(super) fn exhausted(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}

/// The next connection has failed; Linux reports its network errors here (see `accept(2)`). Each such error
/// removes one connection from the queue, so retrying ends.
fn of_one_connection(error: &io::Error) -> bool {
    use Errno as E;
    matches!(
        E::from_io_error(error),
        Some(
            E::CONNABORTED
                | E::PROTO
                | E::NETDOWN
                | E::NETUNREACH
                | E::HOSTDOWN
                | E::HOSTUNREACH
                | E::NONET
                | E::NOPROTOOPT
                | E::PERM
        )
    )
}

/// The connections to a listener, one after the other: the iterator that `incoming` returns.
///
/// It accepts with back-off, so running out of descriptors does not end it. It ends after the listener's
/// `close`, and after an error that would come again and again, which it reports first.
#[derive(Debug)]
pub struct Incoming<'a, L> {
    pub(super) listener: &'a L,
    pub(super) ended: bool,
}

impl<L> Incoming<'_, L> {
    /// What the iterator returns for `accepted`.
    pub(super) fn take<T>(&mut self, accepted: io::Result<T>) -> Option<io::Result<T>> {
        match accepted {
            Err(error) if is_closed(&error) => {
                self.ended = true;
                None
            }
            Err(error) => {
                // `WouldBlock` is caused by `set_nonblocking`; the next try may succeed.
                self.ended = error.kind() != io::ErrorKind::WouldBlock;
                Some(Err(error))
            }
            Ok(connection) => Some(Ok(connection)),
        }
    }
}

/// The calls that every listener has besides `accept` and `accept_async`, for streams of the type `$stream`.
macro_rules! is_listener {
    ($name:ident, $stream:ty, $address:ty) => {
        impl $name {
            /// The poll form of [`accept_async`](Self::accept_async). Of several tasks that poll, the last one is woken.
            ///
            /// # Errors
            /// As for [`accept`](Self::accept).
            pub fn poll_accept(
                &self,
                cx: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<($stream, $address)>> {
                $crate::net::listen::poll_accept(&self.0, cx).map(|accepting| accepting.and_then(accepted))
            }

            /// Waits for a connection, and backs off while there can be none: while the process has no
            /// descriptors (or the machine no memory) left it pauses, 5 ms at first and at most a second, and
            /// tries again; a connection that broke before it was accepted is skipped. This is the call for
            /// an accept loop.
            ///
            /// # Errors
            /// Only those after which no call will succeed, such as after [`close`](Self::close); and
            /// `WouldBlock` as for every operation.
            ///
            /// # Cancellation
            /// A thread that is cancelled while it waits or pauses unwinds from here, and has accepted
            /// nothing.
            ///
            /// # Blocking
            /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
            pub fn accept_with_backoff(&self) -> ::std::io::Result<($stream, $address)> {
                let mut backoff = $crate::net::listen::AcceptBackoff::new();
                loop {
                    match self.accept() {
                        Err(error) => backoff.wait_after(&self.0, error)?,
                        accepted => return accepted,
                    }
                }
            }

            /// The awaitable form of [`accept_with_backoff`](Self::accept_with_backoff). As an event, to be
            /// chosen beside a stop: `future_evt(listener.accept_with_backoff_async())`
            /// ([`future_evt`](crate::event::future_evt)).
            ///
            /// # Errors
            /// As for `accept_with_backoff`.
            ///
            /// # Cancellation
            /// Dropped before it is ready, it has accepted nothing.
            pub async fn accept_with_backoff_async(&self) -> ::std::io::Result<($stream, $address)> {
                let mut backoff = $crate::net::listen::AcceptBackoff::new();
                loop {
                    match self.accept_async().await {
                        Err(error) => backoff.wait_after_async(&self.0, error).await?,
                        accepted => return accepted,
                    }
                }
            }

            /// With `true`, the kernel may accept connections before a call asks for them, where io_uring is behind the
            /// sockets ([`Io`](crate::Io)); elsewhere this has no effect. Up to 64 are kept for later calls, and closed
            /// when the listener is dropped. As for streams' `set_read_ahead`, clones share it.
            #[doc(alias = "multishot")]
            pub fn set_accept_ahead(&self, on: bool) {
                self.0.set_accept_ahead(on);
            }

            /// The connections, one after the other, accepted [with back-off](Self::accept_with_backoff).
            pub fn incoming(&self) -> $crate::net::Incoming<'_, Self> {
                $crate::net::Incoming { listener: self, ended: false }
            }
        }

        $crate::net::serve::serves!($name, $stream, $address);

        impl Iterator for $crate::net::Incoming<'_, $name> {
            type Item = ::std::io::Result<$stream>;
            fn next(&mut self) -> Option<Self::Item> {
                if self.ended {
                    return None;
                }
                let accepted = self.listener.accept_with_backoff().map(|(stream, _)| stream);
                self.take(accepted)
            }
        }

        impl $crate::net::Incoming<'_, $name> {
            /// The awaitable form of [`next`](Iterator::next).
            ///
            /// # Errors
            /// As for `accept_with_backoff`.
            ///
            /// # Cancellation
            /// A future that is dropped before it is ready has accepted nothing.
            pub async fn next_async(&mut self) -> Option<::std::io::Result<$stream>> {
                if self.ended {
                    return None;
                }
                let accepted = self.listener.accept_with_backoff_async().await.map(|(stream, _)| stream);
                self.take(accepted)
            }
        }
    };
}
pub(super) use is_listener;
