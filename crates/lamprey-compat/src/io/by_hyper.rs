//! The traits of hyper.

use super::transport::{PollRead, PollWrite, Transport};
use super::wrapper::Async;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

impl<T: Transport<Driver: PollRead>> Read for Async<T> {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: what `poll_read_uninit` gets it only initialises.
        let space = unsafe { buf.as_mut() };
        let count = ready!(self.get_mut().driver().poll_read_uninit(cx, space))?.len();
        // SAFETY: it has returned the part of `space` that is initialised, which is its beginning.
        unsafe { buf.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl<T: Transport<Driver: PollWrite>> Write for Async<T> {
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
