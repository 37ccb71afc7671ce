//! Sockets: polled for readiness, so nothing is kept between two polls.

use super::transport::{Direct, PollRead, PollWrite, Transport};
use lamprey::net::{TcpStream, UnixStream};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A connected socket, or what leads to one.
pub trait Socket: Unpin {
    type Stream: Stream;

    fn stream(&self) -> &Self::Stream;
}

/// The calls that both kinds of sockets have.
pub trait Stream {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;

    fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>>;

    fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>>;

    fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;

    fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;

    fn shutdown(&self) -> io::Result<()>;
}

macro_rules! socket {
    ($stream:ident) => {
        impl Stream for $stream {
            #[inline]
            fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
                self.poll_read(cx, buf)
            }

            #[inline]
            fn poll_read_uninit<'b>(
                &self,
                cx: &mut Context<'_>,
                buf: &'b mut [MaybeUninit<u8>],
            ) -> Poll<io::Result<&'b mut [u8]>> {
                self.poll_read_uninit(cx, buf)
            }

            #[inline]
            fn poll_read_vectored(
                &self,
                cx: &mut Context<'_>,
                bufs: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                self.poll_read_vectored(cx, bufs)
            }

            #[inline]
            fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                self.poll_write(cx, buf)
            }

            #[inline]
            fn poll_write_vectored(
                &self,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_vectored(cx, bufs)
            }

            fn shutdown(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        }

        impl Socket for $stream {
            type Stream = Self;

            fn stream(&self) -> &Self {
                self
            }
        }

        impl Socket for Arc<$stream> {
            type Stream = $stream;

            fn stream(&self) -> &$stream {
                self
            }
        }

        impl Transport for $stream {
            type Driver = Direct<Self>;
        }

        impl Transport for Arc<$stream> {
            type Driver = Direct<Self>;
        }
    };
}

socket!(TcpStream);
socket!(UnixStream);

impl<T: Socket> PollRead for Direct<T> {
    #[inline]
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.stream().poll_read(cx, buf)
    }

    #[inline]
    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        self.0.stream().poll_read_uninit(cx, buf)
    }

    #[inline]
    fn poll_read_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.stream().poll_read_vectored(cx, bufs)
    }
}

impl<T: Socket> PollWrite for Direct<T> {
    const IS_VECTORED: bool = true;

    #[inline]
    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.stream().poll_write(cx, buf)
    }

    #[inline]
    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.0.stream().poll_write_vectored(cx, bufs)
    }

    #[inline]
    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(match self.0.stream().shutdown() {
            // The peer is gone: there is nobody to tell.
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            result => result,
        })
    }
}
