//! What TLS runs over.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll};

use lamprey::net::{TcpStream, UnixStream};

/// A connected stream of bytes that TLS can run over: what a [`TlsStream`](super::TlsStream) asks of its socket.
///
/// Each poll form registers the task of `cx` when it is pending. A read and a write may be polled by two tasks at once. They are
/// called while the stream is locked, so they must not use it. None may return more than the length of its buffers: that is a panic.
pub trait Duplex: Send + Sync {
    /// Reads into `buf`. 0 is the end of the stream.
    ///
    /// # Errors
    /// The stream's.
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Writes from `bufs`, as much as there is room for.
    ///
    /// # Errors
    /// The stream's.
    fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;

    /// Shuts down one or both directions, without waiting.
    ///
    /// # Errors
    /// The stream's.
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;
}

macro_rules! is_duplex {
    ($($socket:ty),*) => { $(
        impl Duplex for $socket {
            fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
                Self::poll_read(self, cx, buf)
            }

            fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
                Self::poll_write_vectored(self, cx, bufs)
            }

            fn shutdown(&self, how: Shutdown) -> io::Result<()> {
                Self::shutdown(self, how)
            }
        }
    )* };
}
is_duplex!(TcpStream, UnixStream);

impl<T: Duplex + ?Sized> Duplex for Arc<T> {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        T::poll_read(self, cx, buf)
    }

    fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        T::poll_write_vectored(self, cx, bufs)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        T::shutdown(self, how)
    }
}
