//! [`Descriptor`]: waits for a descriptor of the program's own.
//!
//! # Invariants
//! * The descriptor is deregistered from the event loop before its owner is dropped or handed out: [`Socket`] does that.
//! * What [`Descriptor::new`] has changed, the mode of the open file, is put back afterwards.

use super::ready::is_ready;
use super::socket::Socket;
use crate::driver::readiness;
use crate::events::{FutureEvt, future_evt};
use crate::sched::Wait;
use crate::world;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interest {
    /// A read would not wait: there is data, the end, or an error.
    Readable,
    /// A write would not wait: there is room, or an error.
    Writable,
}

impl Interest {
    fn parts(self) -> (readiness::Interest, Wait) {
        match self {
            Self::Readable => (readiness::Interest::Read, Wait::Readable),
            Self::Writable => (readiness::Interest::Write, Wait::Writable),
        }
    }
}

/// Any descriptor that the kernel can poll, with ways to wait until it is ready: of a pipe, a terminal, inotify, a timerfd, an
/// eventfd, a TUN device, a socket of a C library. What tokio calls `AsyncFd`.
///
/// [`readable`](Self::readable) and [`writable`](Self::writable) wait and transfer nothing. [`attempt`](Self::attempt) repeats
/// an operation until it no longer fails with [`WouldBlock`](ErrorKind::WouldBlock). If `&T` has `Read` or `Write`, so has the
/// descriptor. Any number of threads may wait at once, in both directions; an edge wakes all that wait in its direction.
///
/// # Non-blocking mode
/// [`new`](Self::new) sets `O_NONBLOCK`, and [`into_inner`](Self::into_inner) and the drop put back what was there before. The mode
/// belongs to the *open file*: all that share it, in this process (`dup`, `try_clone`) or another one (a terminal, inherited
/// pipes), see the change meanwhile. [`shared`](Self::shared) leaves the mode alone; it is also for a second `Descriptor` of the same open
/// file, which must not outlive the first one.
///
/// # Examples
/// A timer of the kernel:
/// ```
/// use lamprey::io::{Descriptor, Interest};
/// use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
///
/// lamprey::run(|| -> std::io::Result<()> {
///     let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
///     let soon = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
///     let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: soon };
///     rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
///
///     let timer = Descriptor::new(timer)?;
///     let mut count = [0; 8];
///     let bytes = timer.attempt(Interest::Readable, |fd| Ok(rustix::io::read(fd, &mut count)?))?;
///     assert_eq!((bytes, u64::from_ne_bytes(count)), (8, 1));
///     Ok(())
/// })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "AsyncFd")]
#[doc(alias = "Async")]
#[doc(alias = "sys_epoll_wait")]
#[doc(alias = "threadWaitRead")]
pub struct Descriptor<T: AsFd> {
    /// `None` only while it is dropped.
    socket: Option<Socket<T>>,
    /// It was in blocking mode: the last owner puts that back.
    restore: Option<Arc<()>>,
}

impl<T: AsFd> Descriptor<T> {
    /// Takes a descriptor, and puts its open file into non-blocking mode.
    ///
    /// # Errors
    /// `InvalidInput` for a regular file or a directory, which are always ready and would hold up the worker:
    /// [`fs::File`](crate::fs::File) is for these. `Unsupported` in a simulation. The system's.
    pub fn new(inner: T) -> io::Result<Self> {
        let mut descriptor = Self::shared(inner)?;
        let flags = fcntl_getfl(descriptor.as_fd())?;
        if !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(descriptor.as_fd(), flags | OFlags::NONBLOCK)?;
            descriptor.restore = Some(Arc::new(()));
        }
        Ok(descriptor)
    }

    /// Takes a descriptor and leaves the mode of its open file alone, because others share it.
    ///
    /// If it is in blocking mode, an operation that finds nothing to do holds up the worker: wait until it is
    /// [`readable`](Self::readable) or [`writable`](Self::writable) before each, and let nobody else use the open file between
    /// the two.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn shared(inner: T) -> io::Result<Self> {
        if world::is_simulated() {
            let text = "a descriptor of the system has no place in a simulation: use the sockets, files and channels of lamprey there";
            return Err(io::Error::new(ErrorKind::Unsupported, text));
        }
        let kind = FileType::from_raw_mode(fstat(inner.as_fd())?.st_mode);
        if matches!(kind, FileType::RegularFile | FileType::Directory) {
            let text = format!(
                "the kernel does not poll a descriptor of this kind ({kind:?}): use lamprey::fs for it"
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        Ok(Self { socket: Some(Socket::new(inner)), restore: None })
    }

    /// A descriptor for `duplicate`, which shares the open file: the last of the two puts its mode back.
    pub(crate) fn with_duplicate(&self, duplicate: T) -> Self {
        Self { socket: Some(Socket::new(duplicate)), restore: self.restore.clone() }
    }

    /// Waits until a read would not wait. It says what is true now: it does not matter what was read before, and how much.
    /// Another thread may be first to read what is there.
    ///
    /// # Errors
    /// The system's, if it cannot watch the descriptor; if several `Descriptor`s wait by one descriptor, each after the first
    /// takes a duplicate, of which none may be left. `WouldBlock` on a host that is unwinding.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; nothing has been transferred.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn readable(&self) -> io::Result<()> {
        self.ready(Interest::Readable, None)
    }

    /// Waits until a write would not wait. Otherwise as [`readable`](Self::readable).
    ///
    /// # Errors
    /// As `readable`.
    pub fn writable(&self) -> io::Result<()> {
        self.ready(Interest::Writable, None)
    }

    /// [`readable`](Self::readable), for at most `timeout`.
    ///
    /// # Errors
    /// `TimedOut`; those of `readable`.
    pub fn readable_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.ready(Interest::Readable, Some(timeout))
    }

    /// [`writable`](Self::writable), for at most `timeout`.
    ///
    /// # Errors
    /// `TimedOut`; those of `readable`.
    pub fn writable_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.ready(Interest::Writable, Some(timeout))
    }

    fn ready(&self, interest: Interest, timeout: Option<Duration>) -> io::Result<()> {
        let (interest, reason) = interest.parts();
        self.socket().attempt(interest, reason, timeout, |fd| is_ready(fd, interest))
    }

    /// [`readable`](Self::readable) in async code.
    ///
    /// # Errors
    /// As `readable`.
    ///
    /// # Cancellation
    /// It transfers nothing, so nothing is lost if it is dropped.
    pub fn readable_async(&self) -> impl Future<Output = io::Result<()>> + Send + '_
    where
        T: Sync,
    {
        self.ready_async(Interest::Readable)
    }

    /// [`writable`](Self::writable) in async code.
    ///
    /// # Errors
    /// As `readable`.
    ///
    /// # Cancellation
    /// It transfers nothing, so nothing is lost if it is dropped.
    pub fn writable_async(&self) -> impl Future<Output = io::Result<()>> + Send + '_
    where
        T: Sync,
    {
        self.ready_async(Interest::Writable)
    }

    fn ready_async(&self, interest: Interest) -> impl Future<Output = io::Result<()>> + Send + '_
    where
        T: Sync,
    {
        let (interest, _) = interest.parts();
        self.socket().attempt_async(interest, None, move |fd| is_ready(fd, interest))
    }

    /// [`readable`](Self::readable) as an event.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, timeout};
    /// use lamprey::io::Descriptor;
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let (reader, _writer) = std::io::pipe()?;
    /// let reader = Descriptor::new(reader)?;
    /// let readable = reader.readable_evt().wrap(|_| true);
    /// assert!(!choose((readable, timeout(Duration::from_millis(2)).wrap(|()| false))).sync());
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn readable_evt(&self) -> FutureEvt<impl Future<Output = io::Result<()>> + Send + '_>
    where
        T: Sync,
    {
        future_evt(self.ready_async(Interest::Readable))
    }

    /// [`writable`](Self::writable) as an event.
    pub fn writable_evt(&self) -> FutureEvt<impl Future<Output = io::Result<()>> + Send + '_>
    where
        T: Sync,
    {
        future_evt(self.ready_async(Interest::Writable))
    }

    /// Repeats `operation` until it does not fail with [`WouldBlock`](ErrorKind::WouldBlock), and waits for `interest` before each
    /// retry; after [`Interrupted`](ErrorKind::Interrupted) it is repeated at once.
    ///
    /// The kernel reports only *changes*: an operation must fail with `WouldBlock` only if the kernel has said so (`EAGAIN`), and
    /// not because it has got too little. Otherwise loop over [`readable`](Self::readable), which asks for what is true now.
    ///
    /// # Errors
    /// Those of `operation`, and of [`readable`](Self::readable).
    ///
    /// # Cancellation
    /// A cancelled host unwinds between two tries: the last one has failed.
    ///
    /// # Blocking
    /// As [`readable`](Self::readable). `operation` runs on the worker: it must not block.
    #[doc(alias = "async_io")]
    #[doc(alias = "try_io")]
    pub fn attempt<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let (interest, reason) = interest.parts();
        let socket = self.socket();
        socket.attempt(interest, reason, None, |_| retried(operation(socket.get())))?
    }

    /// [`attempt`](Self::attempt) in async code.
    ///
    /// # Errors
    /// As `attempt`.
    ///
    /// # Cancellation
    /// A future that is dropped makes no more tries; the last one has failed.
    pub async fn attempt_async<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let (interest, _) = interest.parts();
        let socket = self.socket();
        socket.attempt_async(interest, None, |_| retried(operation(socket.get()))).await?
    }

    /// The poll form of [`readable_async`](Self::readable_async). Of several tasks that poll for one interest, the last one is
    /// woken.
    ///
    /// # Errors
    /// As [`readable`](Self::readable).
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_ready(Interest::Readable, cx)
    }

    /// The poll form of [`writable_async`](Self::writable_async). Of several tasks that poll for one interest, the last one is
    /// woken.
    ///
    /// # Errors
    /// As [`readable`](Self::readable).
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_ready(Interest::Writable, cx)
    }

    fn poll_ready(&self, interest: Interest, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let (interest, _) = interest.parts();
        self.socket().poll_attempt(interest, cx, |fd| is_ready(fd, interest))
    }

    /// The poll form of [`attempt_async`](Self::attempt_async). Of several tasks that poll for one interest, the last one is woken.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt).
    pub fn poll_attempt<R>(
        &self,
        interest: Interest,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let (interest, _) = interest.parts();
        let socket = self.socket();
        socket.poll_attempt(interest, cx, |_| retried(operation(socket.get()))).map(|tried| tried?)
    }

    /// The owner of the descriptor.
    pub fn get_ref(&self) -> &T {
        self.socket().get()
    }

    /// The owner of the descriptor, whose open file is in the mode that it was in before.
    pub fn into_inner(mut self) -> T {
        let inner = self.socket.take().map(Socket::into_inner);
        let inner = inner.unwrap_or_else(|| crate::bug::bug!("a descriptor without a socket"));
        restore(inner.as_fd(), self.restore.take());
        inner
    }

    pub(crate) fn socket(&self) -> &Socket<T> {
        self.socket.as_ref().unwrap_or_else(|| crate::bug::bug!("a descriptor without a socket"))
    }
}

/// The result of an operation for [`Socket::attempt`]: what is not to be repeated is a value.
fn retried<R>(result: io::Result<R>) -> Result<io::Result<R>, Errno> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(Errno::AGAIN),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(Errno::INTR),
        result => Ok(result),
    }
}

/// Back into blocking mode, by the last owner. There is nobody to tell of an error, which only a bad descriptor can have.
fn restore(fd: BorrowedFd<'_>, owner: Option<Arc<()>>) {
    if owner.and_then(Arc::into_inner).is_some() {
        let _ = fcntl_getfl(fd).and_then(|flags| fcntl_setfl(fd, flags - OFlags::NONBLOCK));
    }
}

impl<T: AsFd> Drop for Descriptor<T> {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            restore(socket.as_fd(), self.restore.take());
        }
    }
}

impl<T: AsFd> AsFd for Descriptor<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket().as_fd()
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for Descriptor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Descriptor").field(self.get_ref()).finish()
    }
}

// There are no impls for `&Descriptor<T>`: they would make the compiler follow `&Descriptor<Descriptor<..>>` without end when a
// program's bound is `for<'a> &'a S: Write` and `S` is to be inferred.
impl<T: AsFd> Read for Descriptor<T>
where
    for<'a> &'a T: Read,
{
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.attempt(Interest::Readable, |mut inner| inner.read(buf))
    }
}

impl<T: AsFd> Write for Descriptor<T>
where
    for<'a> &'a T: Write,
{
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.attempt(Interest::Writable, |mut inner| inner.write(buf))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(Interest::Writable, |mut inner| inner.flush())
    }
}
