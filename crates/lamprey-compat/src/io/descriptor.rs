//! Descriptors of the program's own.

use super::transport::{Direct, PollRead, PollWrite, Transport};
use lamprey::io::{Descriptor, Interest};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::task::{Context, Poll};

impl<T: AsFd + Unpin> Transport for Descriptor<T> {
    type Driver = Direct<Self>;
}

impl<T: AsFd> PollRead for Direct<Descriptor<T>>
where
    for<'a> &'a T: Read,
{
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Readable, cx, |mut inner| inner.read(buf))
    }

    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        // A `Read` of the program's may look at what it gets.
        buf.fill(MaybeUninit::new(0));
        // SAFETY: filled just now.
        let buf = unsafe { buf.assume_init_mut() };
        self.poll_read(cx, buf).map_ok(|count| &mut buf[..count])
    }

    fn poll_read_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Readable, cx, |mut inner| inner.read_vectored(bufs))
    }
}

impl<T: AsFd> PollWrite for Direct<Descriptor<T>>
where
    for<'a> &'a T: Write,
{
    /// It may be; who asks gathers its bytes.
    const IS_VECTORED: bool = false;

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Writable, cx, |mut inner| inner.write(buf))
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Writable, cx, |mut inner| inner.write_vectored(bufs))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_attempt(Interest::Writable, cx, |mut inner| inner.flush())
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
