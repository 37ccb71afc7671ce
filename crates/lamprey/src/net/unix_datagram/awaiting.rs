//! The calls in async code, and as events.

use super::{Patience, UnixDatagram, receive, with_sender};
use crate::driver::readiness::Interest;
use crate::events::{FutureEvt, future_evt};
use crate::net::transfer::SEND;
use crate::net::unix_address::{by_path, to_kernel};
use crate::sched::coop_async::take_a_turn_async;
use rustix::net::{self, RecvFlags, SocketAddrAny, SocketAddrUnix};
use std::future::Future;
use std::io;
use std::os::unix::net::SocketAddr;
use std::path::Path;

/// The awaitable forms. A future that is dropped before it is ready has had no effect.
impl UnixDatagram {
    /// The awaitable form of [`send`](Self::send).
    ///
    /// # Errors
    /// As for `send`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has sent nothing.
    pub fn send_async(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> + Send {
        let timeout = self.0.options.write_timeout.get();
        self.0.attempt_async(Interest::Write, timeout, move |fd| net::send(fd, buf, SEND))
    }

    /// The awaitable form of [`send_to`](Self::send_to).
    ///
    /// # Errors
    /// As for `send_to`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has sent nothing.
    pub async fn send_to_async(&self, buf: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        let address = by_path(path.as_ref())?;
        self.send_to_kernel_async(buf, &address).await
    }

    /// The awaitable form of [`send_to_addr`](Self::send_to_addr).
    ///
    /// # Errors
    /// As for `send_to`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has sent nothing.
    pub async fn send_to_addr_async(&self, buf: &[u8], address: &SocketAddr) -> io::Result<usize> {
        let address = to_kernel(address)?;
        self.send_to_kernel_async(buf, &address).await
    }

    async fn send_to_kernel_async(&self, buf: &[u8], address: &SocketAddrUnix) -> io::Result<usize> {
        take_a_turn_async(1).await;
        let mut patience = Patience::new(self.0.options.write_timeout.get());
        loop {
            match self.try_send_to(buf, address)? {
                Some(sent) => return Ok(sent),
                None => self.0.pause_async(patience.next()?).await?,
            }
        }
    }

    /// The awaitable form of [`recv`](Self::recv).
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has received nothing: the datagram stays in the socket.
    pub fn recv_async(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        let receiving = self.receive_async(buf, RecvFlags::empty());
        async { receiving.await.map(|(received, _)| received) }
    }

    /// The awaitable form of [`recv_from`](Self::recv_from).
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// As for [`recv_async`](Self::recv_async).
    pub fn recv_from_async(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + Send {
        let receiving = self.receive_async(buf, RecvFlags::empty());
        async { receiving.await.and_then(with_sender) }
    }

    /// The awaitable form of [`peek`](Self::peek).
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// As for [`recv_async`](Self::recv_async).
    pub fn peek_async(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        let receiving = self.receive_async(buf, RecvFlags::PEEK);
        async { receiving.await.map(|(received, _)| received) }
    }

    /// The awaitable form of [`peek_from`](Self::peek_from).
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// As for [`recv_async`](Self::recv_async).
    pub fn peek_from_async(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + Send {
        let receiving = self.receive_async(buf, RecvFlags::PEEK);
        async { receiving.await.and_then(with_sender) }
    }

    fn receive_async(
        &self,
        buf: &mut [u8],
        flags: RecvFlags,
    ) -> impl Future<Output = io::Result<(usize, Option<SocketAddrAny>)>> + Send {
        let timeout = self.0.options.read_timeout.get();
        self.0.attempt_async(Interest::Read, timeout, move |fd| receive(fd, buf, flags))
    }
}

/// The forms as events. If another event is chosen, no datagram has been sent or taken out of the socket.
impl UnixDatagram {
    /// [`recv`](Self::recv) as an event.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose};
    /// use lamprey::net::UnixDatagram;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let ((a, _to_a), (b, to_b)) = (UnixDatagram::pair()?, UnixDatagram::pair()?);
    /// to_b.send(b"hello")?;
    /// let (mut first, mut second) = ([0; 8], [0; 8]);
    /// assert_eq!(choose((a.recv_evt(&mut first), b.recv_evt(&mut second))).sync()?, 5);
    /// assert_eq!(&second[..5], b"hello");
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_evt(&self, buf: &mut [u8]) -> FutureEvt<impl Future<Output = io::Result<usize>> + Send> {
        future_evt(self.recv_async(buf))
    }

    /// [`recv_from`](Self::recv_from) as an event.
    pub fn recv_from_evt(
        &self,
        buf: &mut [u8],
    ) -> FutureEvt<impl Future<Output = io::Result<(usize, SocketAddr)>> + Send> {
        future_evt(self.recv_from_async(buf))
    }

    /// [`send`](Self::send) as an event.
    pub fn send_evt(&self, buf: &[u8]) -> FutureEvt<impl Future<Output = io::Result<usize>> + Send> {
        future_evt(self.send_async(buf))
    }

    /// [`send_to`](Self::send_to) as an event.
    pub fn send_to_evt(
        &self,
        buf: &[u8],
        path: impl AsRef<Path> + Send,
    ) -> FutureEvt<impl Future<Output = io::Result<usize>> + Send> {
        future_evt(self.send_to_async(buf, path))
    }
}
