//! [`Async`]: the one wrapper, by which the traits of other libraries are implemented.

use super::transport::{Direct, Driver, Transport};
use std::fmt;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

/// A socket, pipe, file or standard stream of `lamprey` that reads and writes by the traits of other libraries: each feature
/// adds its library's.
///
/// It may be polled by any executor, on any thread: on workers their event loop wakes it, elsewhere a kernel thread of Lamprey's.
/// It dereferences to what it wraps.
///
/// | what | reads, writes | close (`poll_close`, `poll_shutdown`) |
/// |---|---|---|
/// | [`TcpStream`](lamprey::net::TcpStream), [`UnixStream`](lamprey::net::UnixStream), and an `Arc` of these, for halves | when ready | shuts down writing; fine if the peer is gone |
/// | [`PipeReader`](lamprey::io::PipeReader), [`PipeWriter`](lamprey::io::PipeWriter), so those of children | when ready | closes the end; what is written later fails with `BrokenPipe` |
/// | [`Descriptor`](lamprey::io::Descriptor) of what reads and writes by a shared reference | when ready | flushes |
/// | [`fs::File`](lamprey::fs::File), which can seek, too | keeps the operation | waits for the last write |
/// | [`Stdin`](lamprey::io::Stdin), [`Stdout`](lamprey::io::Stdout), [`Stderr`](lamprey::io::Stderr) | keeps the operation | flushes |
/// | [`TcpListener`](lamprey::net::TcpListener), [`UnixListener`](lamprey::net::UnixListener) | accepts wrapped connections | |
///
/// Of several tasks that poll one direction of one socket or pipe, the last one is woken. The time limits of sockets
/// (`set_read_timeout`) are for blocking calls; here the library has its own.
///
/// # Files and standard streams
/// The kernel has no readiness for them: an operation that has begun goes on, whoever polls. So the adapter keeps it, and its buffer.
///
/// * **Reads**: what a read has brought whose poll was dropped is for the next read. It is lost only if the adapter is dropped.
/// * **Writes** are accepted when they begin, up to 256 KiB at once. A write that fails later is reported by the next write, flush or
///   close. **Flush or close before you drop it**: a drop waits for nothing. What the kernel has begun of the last write is done; its
///   rest, an operation that has not begun, and the error are lost.
/// * **Seeks** and writes take back what was read ahead. Calls of the file's own, through the dereference or after
///   [`into_inner`](Self::into_inner), do not know of it: seek first.
/// * One operation is in flight at a time: a write waits for a read. For a FIFO or a terminal, whose reads may wait for ever, take a
///   [`Descriptor`](lamprey::io::Descriptor).
/// * It costs one allocation for each operation, and a copy.
///
/// # Examples
/// ```
/// use lamprey::net::UnixStream;
/// use lamprey_compat::Async;
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// let (here, _there) = UnixStream::pair()?;
/// let here = Async::new(here);
/// here.set_read_timeout(None)?; // its own calls are there
/// let _socket: UnixStream = here.into_inner();
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct Async<T: Transport>(T::Driver);

impl<T: Transport> Async<T> {
    /// Wraps it.
    pub fn new(inner: T) -> Self {
        Self(T::Driver::new(inner))
    }

    /// What it wraps.
    pub fn get_ref(&self) -> &T {
        self.0.get()
    }

    /// What it wraps. (Of the writing end of a pipe that has been closed: an end of a pipe without a reader.)
    ///
    /// # Panics
    /// If the writing end of a pipe has been closed, and no descriptor is left for another one.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    pub(crate) fn driver(&mut self) -> &mut T::Driver {
        &mut self.0
    }
}

impl<T: Transport<Driver = Direct<T>>> Async<T> {
    /// What it wraps. (Not for files and standard streams, nor for the writing end of a pipe.)
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0.0
    }
}

impl<T: Transport> From<T> for Async<T> {
    fn from(inner: T) -> Self {
        Self::new(inner)
    }
}

impl<T: Transport> Deref for Async<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get_ref()
    }
}

impl<T: Transport + AsFd> AsFd for Async<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: Transport + AsFd> AsRawFd for Async<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl<T> Clone for Async<Arc<T>>
where
    Arc<T>: Transport,
{
    /// Another owner of the same socket.
    fn clone(&self) -> Self {
        Self::new(self.get_ref().clone())
    }
}

impl<T: Transport + fmt::Debug> fmt::Debug for Async<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Async").field(self.get_ref()).finish()
    }
}
