//! Pipes, also those of children.

use super::transport::{Direct, PollRead, PollWrite, Transport};
use lamprey::io::{PipeReader, PipeWriter, pipe};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::task::{Context, Poll};

impl Transport for PipeReader {
    type Driver = Direct<Self>;
}

impl Transport for PipeWriter {
    type Driver = Direct<Self>;
}

impl PollRead for Direct<PipeReader> {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_read(cx, buf)
    }

    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        self.0.poll_read_uninit(cx, buf)
    }

    fn poll_read_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter_mut().find(|buf| !buf.is_empty());
        self.0.poll_read(cx, first.map_or(&mut [], |buf| &mut **buf))
    }
}

impl PollWrite for Direct<PipeWriter> {
    const IS_VECTORED: bool = true;

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_write(cx, buf)
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.0.poll_write_vectored(cx, bufs)
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The kernel cannot shut down a pipe, it can only close its end. So that there is still something to dereference to, another
    /// pipe takes its place, which has no reader: writing to it fails with `BrokenPipe`.
    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0 = pipe()?.1;
        Poll::Ready(Ok(()))
    }
}
