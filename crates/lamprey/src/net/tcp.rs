//! TCP.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{self, AddressFamily, Shutdown, SocketAddrAny, SocketType, ipproto, sockopt};

use super::addr::{ToSocketAddrs, first_of};
use super::common::{has_timeouts, is_stream, owns_descriptor};
use super::connect::{connect, connect_async};
use super::events::{listener_events, stream_events};
use super::eyeballs::connect_to_any;
use super::listen::{self, BindTries, is_listener};
use super::option::{buffer_options, options, packet_options, tcp_options};
use super::simulated;
use super::stream_async::is_stream_async;
use super::stream_poll::is_stream_poll;
use super::transfer::SOCKET_FLAGS;
use crate::events::{FutureEvt, future_evt};
use crate::io::socket::Socket;
use crate::sched::{self, coop};
use crate::sleep::{sleep, sleep_async};

/// A TCP connection: [`std::net::TcpStream`] that blocks only the calling host.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
/// use lamprey::net::{TcpListener, TcpStream};
///
/// let text = lamprey::run(|| -> std::io::Result<String> {
///     let listener = TcpListener::bind("127.0.0.1:0")?;
///     let address = listener.local_addr()?;
///     lamprey::spawn(move || listener.accept()?.0.write_all(b"hello"));
///     let mut text = String::new();
///     TcpStream::connect(address)?.read_to_string(&mut text)?;
///     Ok(text)
/// })?;
/// assert_eq!(text, "hello");
/// # std::io::Result::Ok(())
/// ```
pub struct TcpStream(Socket<std::net::TcpStream>);

owns_descriptor!(TcpStream, std::net::TcpStream);
has_timeouts!(TcpStream, std::net::TcpStream);
is_stream!(TcpStream);
is_stream_async!(TcpStream);
is_stream_poll!(TcpStream);
stream_events!(TcpStream);
packet_options!(TcpStream);
tcp_options!(TcpStream);
buffer_options!(TcpStream);
options! { TcpStream:
    /// With `true`, acknowledgements are sent at once, for now: the kernel may go back to delaying them (`TCP_QUICKACK`).
    set_quickack / quickack: bool =
        |fd, value| sockopt::set_tcp_quickack(fd, value), |fd| sockopt::tcp_quickack(fd);
}

impl TcpStream {
    /// Connects to the first of the addresses that accepts the connection.
    ///
    /// Of several addresses, such as those of a name, the families of IPv4 and IPv6 take turns, and an attempt that has
    /// not succeeded after 250 ms gets the next one beside it ("happy eyeballs", RFC 8305). The first that succeeds is
    /// returned, and the others are closed.
    ///
    /// # Examples
    /// With a limit of time:
    /// ```
    /// use lamprey::{net::TcpStream, with_timeout};
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// # let listener = lamprey::net::TcpListener::bind("localhost:0")?;
    /// # let port = listener.local_addr()?.port();
    /// let stream = with_timeout(Duration::from_secs(10), || TcpStream::connect(("localhost", port)))??;
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The system's for the last attempt that failed (such as `ConnectionRefused`), or the name lookup's.
    ///
    /// # Cancellation
    /// A thread that is cancelled while it waits unwinds from here; the sockets are closed, and a connection
    /// that has been made by then is aborted.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[doc(alias = "happy eyeballs")]
    pub fn connect(to: impl ToSocketAddrs) -> io::Result<Self> {
        let mut addresses = to.to_socket_addrs()?.collect::<Vec<_>>();
        if addresses.len() > 1 && !sched::must_not_block() {
            return crate::parasite::wait(connect_to_any(addresses));
        }
        // One needs no future; and where nothing may wait, they fail one after the other.
        first_of(addresses.drain(..), |address| Self::connect_within(address, None, None))
    }

    /// Connects to one address, or fails with `TimedOut` after `timeout`.
    ///
    /// For a name, use [`connect`](Self::connect) within [`with_timeout`](crate::with_timeout).
    ///
    /// # Errors
    /// As for [`connect`](Self::connect); `InvalidInput` for a timeout of zero.
    ///
    /// # Cancellation
    /// As for [`connect`](Self::connect).
    ///
    /// # Blocking
    /// As for `connect`.
    pub fn connect_timeout(address: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        Self::connect_within(address, Some(no_zero(timeout)?), None)
    }

    /// The awaitable form of [`connect`](Self::connect).
    ///
    /// # Errors
    /// As for `connect`.
    ///
    /// # Cancellation
    /// The socket is closed; a connection that has been made is aborted.
    pub async fn connect_async(to: impl ToSocketAddrs) -> io::Result<Self> {
        connect_to_any(to.to_socket_addrs_async().await?.collect()).await
    }

    /// [`connect`](Self::connect) as an event, to choose between it and others. If another is chosen, the sockets are closed; a
    /// peer may have seen a connection that ended at once.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, timeout};
    /// use lamprey::net::{TcpListener, TcpStream};
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let late = timeout(Duration::from_secs(60)).wrap(|()| Err(std::io::ErrorKind::TimedOut.into()));
    /// let stream = choose((TcpStream::connect_evt(listener.local_addr()?), late)).sync()?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn connect_evt<A: ToSocketAddrs<Iter: Send> + Send>(
        to: A,
    ) -> FutureEvt<impl Future<Output = io::Result<Self>>> {
        future_evt(Self::connect_async(to))
    }

    /// The awaitable form of [`connect_timeout`](Self::connect_timeout).
    ///
    /// # Errors
    /// As for `connect_timeout`.
    ///
    /// # Cancellation
    /// As for [`connect_async`](Self::connect_async).
    pub async fn connect_timeout_async(address: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        Self::connect_within_async(address, Some(no_zero(timeout)?), None).await
    }

    pub(super) fn of(socket: Socket<std::net::TcpStream>) -> Self {
        Self(socket)
    }

    /// `bound`: in a simulation, from where.
    pub(super) fn connect_within(
        address: &SocketAddr,
        timeout: Option<Duration>,
        bound: Option<&simulated::Bound>,
    ) -> io::Result<Self> {
        if let Some(connecting) = simulated::connect(address, bound) {
            let stream = Self(Socket::new(connecting?.into()));
            simulated::connected(&stream.0, timeout)?;
            return Ok(stream);
        }
        let stream = Self(Socket::new(socket(address)?.into()));
        connect(&stream.0, address, timeout)?;
        Ok(stream)
    }

    pub(super) async fn connect_within_async(
        address: &SocketAddr,
        timeout: Option<Duration>,
        bound: Option<&simulated::Bound>,
    ) -> io::Result<Self> {
        if let Some(connecting) = simulated::connect(address, bound) {
            let stream = Self(Socket::new(connecting?.into()));
            simulated::connected_async(&stream.0, timeout).await?;
            return Ok(stream);
        }
        let stream = Self(Socket::new(socket(address)?.into()));
        connect_async(&stream.0, address, timeout).await?;
        Ok(stream)
    }

    /// The address at the other end.
    ///
    /// # Errors
    /// The system's, for example when the stream is no longer connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        coop::look();
        simulated::peer_addr(self.0.get().peer_addr(), self)
    }

    /// The address at this end.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        simulated::local_addr(self.0.get().local_addr(), self)
    }

    /// Sends small writes at once (`TCP_NODELAY`) instead of collecting them (Nagle's algorithm).
    ///
    /// # Errors
    /// The system's.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        simulated::set_nodelay(self.0.get().set_nodelay(nodelay), self, nodelay)
    }

    /// The value that [`set_nodelay`](Self::set_nodelay) has set.
    ///
    /// # Errors
    /// The system's.
    pub fn nodelay(&self) -> io::Result<bool> {
        coop::look();
        simulated::nodelay(self.0.get().nodelay(), self)
    }

    /// With `true`, writes of 32 KiB and more are sent from where they are (`MSG_ZEROCOPY`), where io_uring is behind the
    /// sockets ([`Io`](crate::Io)): the kernel copies nothing, and the call returns when the peer has acknowledged the
    /// bytes. That pays where the network card takes them from memory; to addresses of this machine the kernel copies
    /// all the same, and later. What is under way counts against the user's limit of locked memory (`ulimit -l`); writes beyond it
    /// are copied. Until then the call cannot be cancelled, and neither its timeout nor `shutdown` ends it;
    /// [`close`](Self::close) does, and resets the connection. A setting of the value; clones copy it.
    #[doc(alias = "MSG_ZEROCOPY")]
    pub fn set_zero_copy(&self, on: bool) {
        self.0.options.set_zero_copy(on);
    }

    /// Sets the time to live: the number of routers that a packet may pass.
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

/// A listening TCP socket: [`std::net::TcpListener`] that blocks only the calling host.
pub struct TcpListener(Socket<std::net::TcpListener>);

owns_descriptor!(TcpListener, std::net::TcpListener);
is_listener!(TcpListener, TcpStream, SocketAddr);
buffer_options!(TcpListener);
listener_events!(TcpListener, TcpStream, SocketAddr);

impl TcpListener {
    /// Listens on the first of the addresses that can be bound. Port 0 means any free port (see
    /// [`local_addr`](Self::local_addr)). `SO_REUSEADDR` is set, so a server can be restarted at once.
    ///
    /// # Errors
    /// The system's for the last address that was tried, or the name lookup's. `AddrInUse` comes after some tries within 63 ms: the
    /// kernel ends the io_uring of a process that was killed some milliseconds after the process, and with it a listener that
    /// waited there.
    pub fn bind(to: impl ToSocketAddrs) -> io::Result<Self> {
        let addresses: Vec<_> = to.to_socket_addrs()?.collect();
        let mut tries = BindTries::new();
        loop {
            let bound = first_of(addresses.iter().copied(), Self::bind_to);
            match tries.pause_after(&bound) {
                Some(pause) => sleep(pause),
                None => return bound,
            }
        }
    }

    /// The awaitable form of [`bind`](Self::bind), which may have to look up a name.
    ///
    /// # Errors
    /// As for `bind`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has bound nothing.
    pub async fn bind_async(to: impl ToSocketAddrs) -> io::Result<Self> {
        let addresses: Vec<_> = to.to_socket_addrs_async().await?.collect();
        let mut tries = BindTries::new();
        loop {
            let bound = first_of(addresses.iter().copied(), Self::bind_to);
            match tries.pause_after(&bound) {
                Some(pause) => sleep_async(pause).await,
                None => return bound,
            }
        }
    }

    fn bind_to(address: &SocketAddr) -> io::Result<Self> {
        if let Some(listening) = simulated::listen(address, listen::BACKLOG) {
            return Ok(Self(Socket::new(listening?.into())));
        }
        let fd = socket(address)?;
        sockopt::set_socket_reuseaddr(&fd, true)?;
        net::bind(&fd, address)?;
        net::listen(&fd, listen::BACKLOG)?;
        Ok(Self(Socket::new(fd.into())))
    }

    /// Waits for a connection. Several threads may wait at once.
    ///
    /// # Errors
    /// The system's. None of them harms the listener: when no descriptors are left, the connection stays in
    /// the queue, and a later call gets it. A loop that calls again at once would then spin; see
    /// [`accept_with_backoff`](Self::accept_with_backoff).
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and a connection stays in the queue for the next call.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        listen::accept(&self.0).and_then(accepted)
    }

    /// The awaitable form of [`accept`](Self::accept). Several threads and futures may wait at once.
    ///
    /// # Errors
    /// As for `accept`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has accepted nothing.
    pub fn accept_async(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        let accepting = listen::accept_async(&self.0);
        async { accepting.await.and_then(accepted) }
    }

    /// The address that the socket listens on.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        simulated::local_addr(self.0.get().local_addr(), self)
    }

    /// Sets the time to live: the number of routers that a packet may pass.
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

    /// A descriptor that listens, in non-blocking mode.
    pub(super) fn of(listening: OwnedFd) -> Self {
        Self(Socket::new(listening.into()))
    }

    fn adopt(socket: std::net::TcpListener) -> io::Result<Self> {
        Socket::adopt(socket).map(Self)
    }

    fn release(self) -> io::Result<std::net::TcpListener> {
        self.0.release()
    }

    fn shut_down_for_close(&self) {
        // Stops listening, so that new connections are refused while the value lives. Fails when the socket
        // has been shut down already.
        let _ = net::shutdown(&self.0, Shutdown::Both);
    }
}

/// The stream for a descriptor from `accept`, and the peer's address.
fn accepted((fd, address): (OwnedFd, Option<SocketAddrAny>)) -> io::Result<(TcpStream, SocketAddr)> {
    let stream = TcpStream(Socket::new(fd.into()));
    let address = match address {
        Some(address) => address.try_into()?,
        None => stream.peer_addr()?,
    };
    Ok((stream, address))
}

pub(super) fn no_zero(timeout: Duration) -> io::Result<Duration> {
    if timeout.is_zero() {
        coop::look();
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "cannot connect within a timeout of 0"));
    }
    Ok(timeout)
}

fn socket(address: &SocketAddr) -> io::Result<OwnedFd> {
    socket_of(if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })
}

/// A socket of this family, in non-blocking mode.
pub(super) fn socket_of(family: AddressFamily) -> io::Result<OwnedFd> {
    let made = net::socket_with(family, SocketType::STREAM, SOCKET_FLAGS, Some(ipproto::TCP));
    Ok(coop::looked(made, Result::is_err)?)
}
