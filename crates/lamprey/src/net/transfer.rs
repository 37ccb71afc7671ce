//! Moving bytes: the calls that streams and datagram sockets share.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::{self, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags};

use std::future::Future;

use crate::driver::readiness::Interest;
use crate::io::socket::Socket;
use crate::sched::Wait;

/// The flags of every socket.
pub(super) const SOCKET_FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// A broken pipe is an error, not a signal; and the call does not wait even if another owner of the kernel's
/// socket has put it in blocking mode.
pub(super) const SEND: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);
/// The call does not wait even if another owner of the kernel's socket has put it in blocking mode.
pub(super) const RECV: RecvFlags = RecvFlags::DONTWAIT;

/// The kernel refuses more buffers in one call (`UIO_MAXIOV`).
const MOST_BUFFERS: usize = 1024;

impl<S: AsFd> Socket<S> {
    #[inline]
    pub(super) fn recv(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        self.attempt(Interest::Read, Wait::SocketRead, self.options.read_timeout.get(), |fd| {
            net::recv(fd, &mut *buf, flags | RECV).map(|(received, _)| received)
        })
    }

    #[inline]
    pub(super) fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.attempt(Interest::Write, Wait::SocketWrite, self.options.write_timeout.get(), |fd| {
            net::send(fd, buf, SEND)
        })
    }

    pub(super) fn recv_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let count = bufs.len().min(MOST_BUFFERS);
        self.attempt(Interest::Read, Wait::SocketRead, self.options.read_timeout.get(), |fd| {
            net::recvmsg(fd, &mut bufs[..count], &mut RecvAncillaryBuffer::default(), RECV)
                .map(|message| message.bytes)
        })
    }

    pub(super) fn send_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let bufs = &bufs[..bufs.len().min(MOST_BUFFERS)];
        self.attempt(Interest::Write, Wait::SocketWrite, self.options.write_timeout.get(), |fd| {
            net::sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), SEND)
        })
    }

    pub(super) fn recv_async(
        &self,
        buf: &mut [u8],
        flags: RecvFlags,
    ) -> impl Future<Output = io::Result<usize>> {
        self.attempt_async(Interest::Read, self.options.read_timeout.get(), move |fd| {
            net::recv(fd, &mut *buf, flags | RECV).map(|(received, _)| received)
        })
    }

    pub(super) fn send_async(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> {
        self.attempt_async(Interest::Write, self.options.write_timeout.get(), move |fd| {
            net::send(fd, buf, SEND)
        })
    }

    pub(super) fn recv_vectored_async(
        &self,
        bufs: &mut [IoSliceMut<'_>],
    ) -> impl Future<Output = io::Result<usize>> {
        let count = bufs.len().min(MOST_BUFFERS);
        self.attempt_async(Interest::Read, self.options.read_timeout.get(), move |fd| {
            net::recvmsg(fd, &mut bufs[..count], &mut RecvAncillaryBuffer::default(), RECV)
                .map(|message| message.bytes)
        })
    }

    pub(super) fn send_vectored_async(
        &self,
        bufs: &[IoSlice<'_>],
    ) -> impl Future<Output = io::Result<usize>> {
        let bufs = &bufs[..bufs.len().min(MOST_BUFFERS)];
        self.attempt_async(Interest::Write, self.options.write_timeout.get(), move |fd| {
            net::sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), SEND)
        })
    }

    /// Copies the timeouts that the kernel keeps for the socket.
    pub(super) fn import_timeouts(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()> {
        self.options.read_timeout.set(read)?;
        self.options.write_timeout.set(write)
    }
}
