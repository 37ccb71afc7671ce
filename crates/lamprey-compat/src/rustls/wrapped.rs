//! [`Async`](crate::Async) of TLS streams: the traits of other libraries.

use std::borrow::Borrow;
use std::io::{self, IoSlice, IoSliceMut};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Duplex, TlsStream};
use crate::io::transport::{Driver, PollRead, PollWrite, Transport};

impl<S: Duplex> Transport for TlsStream<S> {
    type Driver = Wrapped<Self, S>;
}

impl<S: Duplex> Transport for Arc<TlsStream<S>> {
    type Driver = Wrapped<Self, S>;
}

/// A TLS stream, or what leads to one.
pub struct Wrapped<T, S>(T, PhantomData<fn() -> S>);

impl<T, S> Unpin for Wrapped<T, S> {}

impl<T, S> Driver<T> for Wrapped<T, S> {
    fn new(inner: T) -> Self {
        Self(inner, PhantomData)
    }

    fn get(&self) -> &T {
        &self.0
    }

    fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Borrow<TlsStream<S>>, S: Duplex> PollRead for Wrapped<T, S> {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.borrow().poll_read(cx, buf)
    }

    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        self.0.borrow().poll_read_uninit(cx, buf)
    }

    fn poll_read_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        // What is decrypted is copied, so a second buffer saves no system call.
        let first = bufs.iter_mut().find(|buf| !buf.is_empty());
        first.map_or(Poll::Ready(Ok(0)), |buf| self.0.borrow().poll_read(cx, buf))
    }
}

impl<T: Borrow<TlsStream<S>>, S: Duplex> PollWrite for Wrapped<T, S> {
    const IS_VECTORED: bool = true;

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow().poll_write(cx, buf)
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.0.borrow().poll_write_vectored(cx, bufs)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow().poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow().poll_close(cx)
    }
}
