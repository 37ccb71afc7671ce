//! Accepting, and what an accept loop does when the process runs out of descriptors.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, SocketAddrAny};

use super::transfer::SOCKET_FLAGS;
use crate::io::closed::is_closed;
use crate::io::readiness::Interest;
use crate::io::socket::Socket;
use crate::sched::Wait;

/// Connections that the kernel keeps until they are accepted; it lowers this to `/proc/sys/net/core/somaxconn`.
pub(super) const BACKLOG: i32 = 4096;

/// How long an accept loop that found no descriptor left stays away, and for how long at most after several times.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// One connection, with the peer's address as the kernel gives it.
pub(super) fn accept<S: AsFd>(listener: &Socket<S>) -> io::Result<(OwnedFd, Option<SocketAddrAny>)> {
    listener.attempt(Interest::Read, Wait::Accept, None, |fd| net::acceptfrom_with(fd, SOCKET_FLAGS))
}

/// Repeats `accept` until there is a connection or the listener is of no more use.
pub(super) fn patiently<S: AsFd, T>(
    listener: &Socket<S>,
    mut accept: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut pause = FIRST_PAUSE;
    loop {
        match accept() {
            Err(error) if exhausted(&error) => {
                listener.pause(Wait::AcceptPause, pause)?;
                listener.check_open()?;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(error) if of_one_connection(&error) => {}
            other => return other,
        }
    }
}

/// The process or the machine has no room for one more; the connection stays in the listener's queue.
fn exhausted(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}

/// The connection that was next is gone; Linux reports its network errors here (see `accept(2)`). Each takes one
/// connection out of the queue, so trying again ends.
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
/// It accepts patiently, so running out of descriptors does not end it. It ends after the listener's `close`, and
/// after an error that would come again and again, which it reports first.
#[derive(Debug)]
pub struct Incoming<'a, L> {
    pub(super) listener: &'a L,
    pub(super) ended: bool,
}

impl<L> Incoming<'_, L> {
    pub(super) fn take<T>(&mut self, accept: impl FnOnce() -> io::Result<T>) -> Option<io::Result<T>> {
        if self.ended {
            return None;
        }
        match accept() {
            Err(error) if is_closed(&error) => {
                self.ended = true;
                None
            }
            Err(error) => {
                // `WouldBlock` comes of `set_nonblocking`, and says nothing against the next try.
                self.ended = error.kind() != io::ErrorKind::WouldBlock;
                Some(Err(error))
            }
            Ok(connection) => Some(Ok(connection)),
        }
    }
}
