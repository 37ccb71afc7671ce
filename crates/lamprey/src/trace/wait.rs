//! The readiness of descriptors, for threads: `epoll_wait`, `when_ready`.

use super::call::{Answer, Descriptor, Request};
use super::io_call::nbio;
use super::slot::{Aim, Slot};
use super::thread::Trace;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interest {
    /// Something can be read, or accepted, or the peer has ended.
    Read,
    /// Something can be written, or a connection stands.
    Write,
}

/// Waits until `fd` is ready for what `interest` says, or might be: who then reads may have to wait again
/// ([`when_ready`] does).
///
/// # Errors
/// What the scheduler says ([`EpollWait::failed`]): the descriptor is of a kind that has no readiness, such as a
/// file's.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn epoll_wait<D: AsFd + Send + Sync + 'static>(fd: &Arc<D>, interest: Interest) -> EpollWaitCall {
    EpollWaitCall { fd: Some(Arc::clone(fd) as Descriptor), interest, failed: None }
}

/// A future: see [`epoll_wait`].
#[must_use = "a system call is made when it is awaited"]
pub struct EpollWaitCall {
    /// None when the call has been made.
    fd: Option<Descriptor>,
    interest: Interest,
    failed: Option<io::Error>,
}

impl Future for EpollWaitCall {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let slot = Slot::of(context);
        let interest = self.interest;
        if let Some(fd) = self.fd.take() {
            self.fd = slot.ask(fd, |fd| Request::EpollWait(fd, interest));
        } else if slot.aim.get() == Aim::Run {
            return Poll::Ready(self.failed.take().map_or(Ok(()), Err));
        } else if slot.reaches(Aim::Answer)
            && let Some(Answer::Waited(error)) = slot.answer.take()
        {
            self.failed = Some(error);
        }
        Poll::Pending
    }
}

impl fmt::Debug for EpollWaitCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EpollWaitCall").field("interest", &self.interest).finish_non_exhaustive()
    }
}

/// A thread that waits for a descriptor, which stays open meanwhile.
#[must_use = "a thread whose call is dropped never goes on"]
pub struct EpollWait {
    pub(super) fd: Descriptor,
    pub(super) interest: Interest,
    pub(super) trace: Trace,
}

impl EpollWait {
    /// What it waits for.
    pub fn interest(&self) -> Interest {
        self.interest
    }

    /// The thread, which finds the descriptor ready.
    pub fn ready(self) -> Trace {
        self.trace
    }

    /// The thread, which finds that the descriptor cannot be waited for.
    pub fn failed(self, error: io::Error) -> Trace {
        self.trace.resume(Aim::Answer, Some(Answer::Waited(error))).0
    }
}

impl AsFd for EpollWait {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl fmt::Debug for EpollWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EpollWait")
            .field("fd", &self.as_fd())
            .field("interest", &self.interest)
            .finish_non_exhaustive()
    }
}

/// Calls `call` until it does not fail with [`WouldBlock`](io::ErrorKind::WouldBlock), and waits for `fd` in
/// between: a call on a socket that does not block becomes one that blocks the thread alone.
///
/// # Examples
/// The `accept` of a thread (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, Figure
/// 10):
/// ```
/// use lamprey::trace::{Interest, when_ready};
/// use std::io;
/// use std::net::{TcpListener, TcpStream};
/// use std::sync::Arc;
///
/// async fn accept(listener: &Arc<TcpListener>) -> io::Result<TcpStream> {
///     let (stream, _from) = when_ready(listener, Interest::Read, || listener.accept()).await?;
///     stream.set_nonblocking(true)?;
///     Ok(stream)
/// }
/// ```
///
/// # Errors
/// Those of `call` but for `WouldBlock` and [`Interrupted`](io::ErrorKind::Interrupted), and of [`epoll_wait`].
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub async fn when_ready<D: AsFd + Send + Sync + 'static, T: Send>(
    fd: &Arc<D>,
    interest: Interest,
    mut call: impl FnMut() -> io::Result<T> + Send,
) -> io::Result<T> {
    loop {
        match nbio(&mut call).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => epoll_wait(fd, interest).await?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
