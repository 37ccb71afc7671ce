//! The traits of tokio.

use super::transport::{PollRead, PollSeek, PollWrite, Transport};
use super::wrapper::Async;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

impl<T: Transport<Driver: PollRead>> AsyncRead for Async<T> {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // SAFETY: what `poll_read_uninit` gets it only initialises.
        let space = unsafe { buf.unfilled_mut() };
        let count = ready!(self.get_mut().driver().poll_read_uninit(cx, space))?.len();
        // SAFETY: it has returned the part of `space` that is initialised, which is its beginning.
        unsafe { buf.assume_init(count) };
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<T: Transport<Driver: PollWrite>> AsyncWrite for Async<T> {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().driver().poll_write(cx, buf)
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().driver().poll_write_vectored(cx, bufs)
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        <T::Driver as PollWrite>::IS_VECTORED
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().driver().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().driver().poll_close(cx)
    }
}

impl<T: Transport<Driver: PollSeek>> AsyncSeek for Async<T> {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.get_mut().driver().start_seek(to)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.get_mut().driver().poll_complete(cx)
    }
}
