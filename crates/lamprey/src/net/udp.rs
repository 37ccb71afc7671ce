//! UDP.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use std::task::{Context, Poll};

use rustix::net::{RecvFlags, sockopt};

use super::addr::{ToSocketAddrs, first_of, no_address};
use super::common::{has_timeouts, owns_descriptor};
use super::events::readiness_events;
use super::option::{buffer_options, options, packet_options};
use super::{datagram, simulated};
use crate::driver::readiness::Interest;
use crate::events::{FutureEvt, future_evt};
use crate::io::socket::Socket;
use crate::sched::{Wait, coop};

/// A UDP socket: [`std::net::UdpSocket`] that blocks only the calling host.
///
/// # Examples
/// ```
/// use lamprey::net::UdpSocket;
///
/// lamprey::run(|| {
///     let (a, b) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
///     a.send_to(b"hello", b.local_addr()?)?;
///     let mut buf = [0; 16];
///     let (received, from) = b.recv_from(&mut buf)?;
///     assert_eq!((&buf[..received], from), (&b"hello"[..], a.local_addr()?));
///     std::io::Result::Ok(())
/// })?;
/// # std::io::Result::Ok(())
/// ```
pub struct UdpSocket(Socket<std::net::UdpSocket>);

owns_descriptor!(UdpSocket, std::net::UdpSocket);
has_timeouts!(UdpSocket, std::net::UdpSocket);
readiness_events!(UdpSocket);
buffer_options!(UdpSocket);
packet_options!(UdpSocket);
options! { UdpSocket:
    /// The interface, by one of its addresses, that datagrams to a group leave by (0.0.0.0: the system chooses).
    set_multicast_if_v4 / multicast_if_v4: Ipv4Addr =
        |fd, value| sockopt::set_ip_multicast_if(fd, &value), |fd| sockopt::ip_multicast_if(fd);
    /// The interface, by its number, that datagrams to an IPv6 group leave by (0: the system chooses).
    set_multicast_if_v6 / multicast_if_v6: u32 =
        |fd, value| sockopt::set_ipv6_multicast_if(fd, value), |fd| sockopt::ipv6_multicast_if(fd);
    /// The number of routers that a datagram to an IPv6 group may pass.
    set_multicast_hops_v6 / multicast_hops_v6: u32 =
        |fd, value| sockopt::set_ipv6_multicast_hops(fd, value), |fd| sockopt::ipv6_multicast_hops(fd);
}

impl UdpSocket {
    /// Binds a socket to the first of the addresses that can be bound.
    ///
    /// # Errors
    /// The system's for the last address that was tried, or the name lookup's.
    ///
    /// # Cancellation
    /// A thread that is cancelled while it looks up a name unwinds from here, without effect.
    ///
    /// # Blocking
    /// For a name: see [`lookup`](super::lookup).
    pub fn bind(to: impl ToSocketAddrs) -> io::Result<Self> {
        first_of(to.to_socket_addrs()?, Self::bind_to)
    }

    /// Sets the peer of [`send`](Self::send) and [`recv`](Self::recv); datagrams from other senders are then
    /// dropped.
    ///
    /// # Errors
    /// The system's for the last address that was tried, or the name lookup's.
    ///
    /// # Cancellation
    /// A thread that is cancelled while it looks up a name unwinds from here, without effect.
    ///
    /// # Blocking
    /// For a name: see [`lookup`](super::lookup).
    pub fn connect(&self, to: impl ToSocketAddrs) -> io::Result<()> {
        first_of(to.to_socket_addrs()?, |address| self.connect_to(address))
    }

    /// Sends a datagram to the first of the addresses.
    ///
    /// # Errors
    /// The system's (`ConnectionRefused` may refer to an earlier datagram), or the name lookup's.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and has sent nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn send_to(&self, buf: &[u8], to: impl ToSocketAddrs) -> io::Result<usize> {
        let address = to.to_socket_addrs()?.next().ok_or_else(no_address)?;
        self.0.attempt(Interest::Write, Wait::SocketWrite, self.0.options.write_timeout.get(), |fd| {
            datagram::send_to(fd, buf, &address)
        })
    }

    /// Waits for a datagram; returns the number of its bytes in `buf` (the rest is lost) and the sender's
    /// address.
    ///
    /// # Errors
    /// The system's; `TimedOut` after the read timeout; `InvalidInput` if the socket has been shut down, through its descriptor.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and the next receive gets the datagram.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(buf, RecvFlags::empty())
    }

    /// Same as [`recv_from`](Self::recv_from), but the datagram stays in the socket.
    ///
    /// # Errors
    /// As for `recv_from`.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(buf, RecvFlags::PEEK)
    }

    fn receive(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<(usize, SocketAddr)> {
        let read_timeout = self.0.options.read_timeout.get();
        self.0
            .attempt(Interest::Read, Wait::SocketRead, read_timeout, |_| {
                datagram::receive(&self.0, buf, flags)
            })
            .and_then(datagram::with_sender)
    }

    /// Sends a datagram to the peer that [`connect`](Self::connect) has set.
    ///
    /// # Errors
    /// The system's (`ConnectionRefused` refers to an earlier datagram).
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and has sent nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.attempt(Interest::Write, Wait::SocketWrite, self.0.options.write_timeout.get(), |fd| {
            datagram::send(fd, buf)
        })
    }

    /// Waits for a datagram from the peer that [`connect`](Self::connect) has set. 0 bytes if the socket has been shut down, through
    /// its descriptor.
    ///
    /// # Errors
    /// The system's; `TimedOut` after the read timeout.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and the next receive gets the datagram.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receive_from_peer(buf, RecvFlags::empty())
    }

    /// Same as [`recv`](Self::recv), but the datagram stays in the socket.
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receive_from_peer(buf, RecvFlags::PEEK)
    }

    fn receive_from_peer(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        let read_timeout = self.0.options.read_timeout.get();
        self.0.attempt(Interest::Read, Wait::SocketRead, read_timeout, |_| {
            datagram::receive_from_peer(&self.0, buf, flags)
        })
    }

    fn connect_to(&self, address: &SocketAddr) -> io::Result<()> {
        match simulated::connect_datagrams(self, address) {
            Some(connected) => Ok(connected?),
            None => coop::tried(self.0.get().connect(address), Result::is_err),
        }
    }

    fn bind_to(address: &SocketAddr) -> io::Result<Self> {
        if let Some(bound) = simulated::bind_datagrams(address) {
            return Ok(Self(Socket::new(bound?.into())));
        }
        let bound = coop::tried(std::net::UdpSocket::bind(address), Result::is_err)?;
        Socket::adopt(bound).map(Self)
    }

    fn shut_down_for_close(&self) {
        // A datagram socket has no peer that must be notified.
    }
}

/// The awaitable forms. A future that is dropped before it is ready has had no effect.
impl UdpSocket {
    /// The awaitable form of [`bind`](Self::bind), which may have to look up a name.
    ///
    /// # Errors
    /// As for `bind`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has bound nothing.
    pub async fn bind_async(to: impl ToSocketAddrs) -> io::Result<Self> {
        first_of(to.to_socket_addrs_async().await?, Self::bind_to)
    }

    /// The awaitable form of [`connect`](Self::connect), which may have to look up a name.
    ///
    /// # Errors
    /// As for `connect`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has changed nothing.
    pub async fn connect_async(&self, to: impl ToSocketAddrs) -> io::Result<()> {
        first_of(to.to_socket_addrs_async().await?, |address| self.connect_to(address))
    }

    /// The awaitable form of [`send_to`](Self::send_to).
    ///
    /// # Errors
    /// As for `send_to`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has sent nothing.
    pub async fn send_to_async(&self, buf: &[u8], to: impl ToSocketAddrs) -> io::Result<usize> {
        let address = to.to_socket_addrs_async().await?.next().ok_or_else(no_address)?;
        let write_timeout = self.0.options.write_timeout.get();
        self.0.attempt_async(Interest::Write, write_timeout, |fd| datagram::send_to(fd, buf, &address)).await
    }

    /// The awaitable form of [`recv_from`](Self::recv_from).
    ///
    /// # Errors
    /// As for `recv_from`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has received nothing: the datagram stays in the socket.
    pub fn recv_from_async(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + Send {
        self.receive_async(buf, RecvFlags::empty())
    }

    /// The awaitable form of [`peek_from`](Self::peek_from).
    ///
    /// # Errors
    /// As for `recv_from`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has received nothing: the datagram stays in the socket.
    pub fn peek_from_async(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + Send {
        self.receive_async(buf, RecvFlags::PEEK)
    }

    fn receive_async(
        &self,
        buf: &mut [u8],
        flags: RecvFlags,
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + Send {
        let read_timeout = self.0.options.read_timeout.get();
        let receiving = self
            .0
            .attempt_async(Interest::Read, read_timeout, move |_| datagram::receive(&self.0, buf, flags));
        async { receiving.await.and_then(datagram::with_sender) }
    }

    fn receive_from_peer_async(
        &self,
        buf: &mut [u8],
        flags: RecvFlags,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        let read_timeout = self.0.options.read_timeout.get();
        self.0.attempt_async(Interest::Read, read_timeout, move |_| {
            datagram::receive_from_peer(&self.0, buf, flags)
        })
    }

    /// The awaitable form of [`send`](Self::send).
    ///
    /// # Errors
    /// As for `send`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has sent nothing.
    pub fn send_async(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> + Send {
        let write_timeout = self.0.options.write_timeout.get();
        self.0.attempt_async(Interest::Write, write_timeout, move |fd| datagram::send(fd, buf))
    }

    /// The awaitable form of [`recv`](Self::recv).
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has received nothing: the datagram stays in the socket.
    pub fn recv_async(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        self.receive_from_peer_async(buf, RecvFlags::empty())
    }

    /// The awaitable form of [`peek`](Self::peek).
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has received nothing: the datagram stays in the socket.
    pub fn peek_async(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        self.receive_from_peer_async(buf, RecvFlags::PEEK)
    }
}

/// The poll forms: of several tasks that poll one direction, the last one is woken. The time-outs of the socket do not apply.
impl UdpSocket {
    /// The poll form of [`recv_from_async`](Self::recv_from_async).
    ///
    /// # Errors
    /// As for `recv_from`.
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let receiving =
            self.0.poll_attempt(Interest::Read, cx, |_| datagram::receive(&self.0, buf, RecvFlags::empty()));
        receiving.map(|received| received.and_then(datagram::with_sender))
    }

    /// The poll form of [`recv_async`](Self::recv_async).
    ///
    /// # Errors
    /// As for `recv`.
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Read, cx, |_| {
            datagram::receive_from_peer(&self.0, buf, RecvFlags::empty())
        })
    }

    /// The poll form of [`send_to_async`](Self::send_to_async), to an address.
    ///
    /// # Errors
    /// As for `send_to`.
    pub fn poll_send_to(&self, cx: &mut Context<'_>, buf: &[u8], to: &SocketAddr) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Write, cx, |fd| datagram::send_to(fd, buf, to))
    }

    /// The poll form of [`send_async`](Self::send_async).
    ///
    /// # Errors
    /// As for `send`.
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Write, cx, |fd| datagram::send(fd, buf))
    }
}

/// The forms as events. If another event is chosen, no datagram has been sent or taken out of the socket.
impl UdpSocket {
    /// [`recv_from`](Self::recv_from) as an event.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::Event;
    /// use lamprey::net::UdpSocket;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert!(socket.recv_from_evt(&mut [0; 8]).sync_timeout(Duration::from_millis(1)).is_none());
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_from_evt(
        &self,
        buf: &mut [u8],
    ) -> FutureEvt<impl Future<Output = io::Result<(usize, SocketAddr)>> + Send> {
        future_evt(self.recv_from_async(buf))
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&self, buf: &mut [u8]) -> FutureEvt<impl Future<Output = io::Result<usize>> + Send> {
        future_evt(self.recv_async(buf))
    }

    /// [`send`](Self::send) as an event.
    pub fn send_evt(&self, buf: &[u8]) -> FutureEvt<impl Future<Output = io::Result<usize>> + Send> {
        future_evt(self.send_async(buf))
    }
}

/// Settings that the standard library's socket implements.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        impl UdpSocket {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// The system's.
            pub fn $name(&self, $($arg: $type),*) -> io::Result<$result> {
                self.0.get().$name($($arg),*)
            }
        )*}
    };
}

impl UdpSocket {
    /// The address of this socket.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        simulated::local_addr(self.0.get().local_addr(), self)
    }

    /// The address that [`connect`](Self::connect) has set.
    ///
    /// # Errors
    /// The system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        coop::look();
        simulated::peer_addr(self.0.get().peer_addr(), self)
    }

    /// Sets the time to live: the number of routers that a datagram may pass.
    ///
    /// # Errors
    /// The system's.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        simulated::set_ttl(self.0.get().set_ttl(ttl), self, ttl)
    }

    /// The value that [`set_ttl`](Self::set_ttl) has set.
    ///
    /// # Errors
    /// The system's.
    pub fn ttl(&self) -> io::Result<u32> {
        coop::look();
        simulated::ttl(self.0.get().ttl(), self)
    }
}

settings! {
    /// Allows sending to broadcast addresses.
    set_broadcast(broadcast: bool) -> ();
    /// The value that [`set_broadcast`](Self::set_broadcast) has set.
    broadcast() -> bool;
    /// Joins a multicast group on the interface with the address `interface` (0.0.0.0: any).
    join_multicast_v4(group: &Ipv4Addr, interface: &Ipv4Addr) -> ();
    /// Leaves a group that [`join_multicast_v4`](Self::join_multicast_v4) has joined.
    leave_multicast_v4(group: &Ipv4Addr, interface: &Ipv4Addr) -> ();
    /// Joins a multicast group on the interface with the number `interface` (0: any).
    join_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
    /// Leaves a group that [`join_multicast_v6`](Self::join_multicast_v6) has joined.
    leave_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
    /// Whether datagrams to a group are looped back to this machine.
    set_multicast_loop_v4(come_back: bool) -> ();
    /// The value that [`set_multicast_loop_v4`](Self::set_multicast_loop_v4) has set.
    multicast_loop_v4() -> bool;
    /// Sets the number of routers that a datagram to a group may pass.
    set_multicast_ttl_v4(ttl: u32) -> ();
    /// The value that [`set_multicast_ttl_v4`](Self::set_multicast_ttl_v4) has set.
    multicast_ttl_v4() -> u32;
    /// Whether datagrams to an IPv6 group are looped back to this machine.
    set_multicast_loop_v6(come_back: bool) -> ();
    /// The value that [`set_multicast_loop_v6`](Self::set_multicast_loop_v6) has set.
    multicast_loop_v6() -> bool;
}
