//! A TCP socket before it connects or listens, for the options that must be set first.

use super::connect::{connect, connect_async};
use super::kind::{self, Kind};
use super::listen;
use super::option::{buffer_options, options, packet_options, tcp_options};
use super::simulated;
use super::tcp::{TcpListener, TcpStream, socket_of};
use crate::io::socket::Socket;
use crate::kernel::nonblocking::set_nonblocking;
use crate::sched::coop;
use crate::world;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, sockopt};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;

/// A TCP socket that is neither connected nor listening, for the options that must be set before. (For the others use
/// [`TcpStream`] and [`TcpListener`] at once.)
///
/// # Examples
/// ```
/// use lamprey::net::{TcpSocket, TcpStream};
///
/// lamprey::run(|| {
///     let socket = TcpSocket::new_v4()?;
///     socket.set_reuseaddr(true)?;
///     socket.set_recv_buffer_size(64 << 10)?;
///     socket.bind("127.0.0.1:0".parse().unwrap())?;
///     let listener = socket.listen(128)?;
///
///     let socket = TcpSocket::new_v4()?;
///     socket.bind("127.0.0.2:0".parse().unwrap())?; // from which address it connects
///     let stream = socket.connect(listener.local_addr()?)?;
///     assert_eq!(listener.accept()?.1, stream.local_addr()?);
///     std::io::Result::Ok(())
/// })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # In a simulation
/// Options are set and have no effect but for [`set_reuseaddr`](Self::set_reuseaddr), and a connection cannot be given a local port
/// of one's choice ([`bind`](Self::bind) and then [`connect`](Self::connect)).
pub struct TcpSocket {
    fd: OwnedFd,
    /// In a simulation, where it is bound.
    bound: OnceLock<simulated::Bound>,
}

packet_options!(TcpSocket);
tcp_options!(TcpSocket);
buffer_options!(TcpSocket);
options! { TcpSocket:
    /// Whether an address can be bound on which connections of an earlier socket still linger (`SO_REUSEADDR`).
    /// [`TcpListener::bind`] sets it by itself.
    set_reuseaddr / reuseaddr: bool =
        |fd, value| sockopt::set_socket_reuseaddr(fd, value), |fd| sockopt::socket_reuseaddr(fd);
    /// Whether several sockets can listen on one address (`SO_REUSEPORT`): the kernel spreads the connections.
    set_reuseport / reuseport: bool =
        |fd, value| sockopt::set_socket_reuseport(fd, value), |fd| sockopt::socket_reuseport(fd);
    /// Whether a socket of IPv6 leaves IPv4 to others (`IPV6_V6ONLY`).
    set_only_v6 / only_v6: bool =
        |fd, value| sockopt::set_ipv6_v6only(fd, value), |fd| sockopt::ipv6_v6only(fd);
    /// Whether small writes are sent at once (`TCP_NODELAY`).
    set_nodelay / nodelay: bool =
        |fd, value| sockopt::set_tcp_nodelay(fd, value), |fd| sockopt::tcp_nodelay(fd);
}

impl TcpSocket {
    /// A socket of IPv4.
    ///
    /// # Errors
    /// The system's, for example when no descriptors are left.
    pub fn new_v4() -> io::Result<Self> {
        Self::new(AddressFamily::INET)
    }

    /// A socket of IPv6.
    ///
    /// # Errors
    /// The system's, for example when no descriptors are left or the machine has no IPv6.
    pub fn new_v6() -> io::Result<Self> {
        Self::new(AddressFamily::INET6)
    }

    fn new(family: AddressFamily) -> io::Result<Self> {
        Ok(Self { fd: socket_of(family)?, bound: OnceLock::new() })
    }

    /// Takes a descriptor of any owner, such as a `socket2::Socket`, and puts it in non-blocking mode.
    ///
    /// # Errors
    /// `InvalidInput` if it is no TCP socket; the system's.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> io::Result<Self> {
        let fd = fd.into();
        kind::check(fd.as_fd(), Kind::TcpSocket)?;
        set_nonblocking(&fd, true)?;
        Ok(Self { fd, bound: OnceLock::new() })
    }

    /// Binds the socket: where it listens, or from where it connects.
    ///
    /// # Errors
    /// The system's, such as `AddrInUse`; `InvalidInput` if it is bound already.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        if !world::is_simulated() {
            return Ok(coop::tried(net::bind(&self.fd, &address), Result::is_err)?);
        }
        self.check_family(&address)?;
        // It is bound already.
        if self.bound.get().is_some() {
            return Err(Errno::INVAL.into());
        }
        let Some(bound) = simulated::bind(self.fd.as_fd(), address) else { return Ok(()) };
        self.bound.set(bound?).map_err(|_| Errno::INVAL.into())
    }

    /// The address that it is bound to.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match self.bound.get() {
            Some(bound) => Ok(bound.address()),
            None => Ok(SocketAddr::try_from(net::getsockname(&self.fd)?)?),
        }
    }

    /// Returns and clears the pending error of the kernel's socket.
    ///
    /// # Errors
    /// The system's.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        coop::look();
        Ok(sockopt::socket_error(&self.fd)?.err().map(Into::into))
    }

    /// Listens, with a queue for so many connections that have not been accepted (the kernel lowers it to
    /// `/proc/sys/net/core/somaxconn`).
    ///
    /// # Errors
    /// The system's.
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        // The kernel takes one connection more than the queue has places.
        let most = backlog.min(listen::BACKLOG).saturating_add(1);
        let listening = match self.bound.get() {
            Some(bound) => simulated::listen_where_bound(bound, most),
            None => simulated::listen(&SocketAddr::new(self.anywhere()?, 0), most),
        };
        if let Some(listening) = listening {
            return Ok(TcpListener::of(listening?));
        }
        net::listen(&self.fd, backlog)?;
        Ok(TcpListener::of(self.fd))
    }

    /// Connects to `address`.
    ///
    /// # Errors
    /// The system's, such as `ConnectionRefused`.
    ///
    /// # Cancellation
    /// As for [`TcpStream::connect`].
    ///
    /// # Blocking
    /// As for `TcpStream::connect`.
    pub fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        self.connect_within(address, None)
    }

    /// Connects to `address`, or fails with `TimedOut` after `timeout`.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect); `InvalidInput` for a timeout of zero.
    ///
    /// # Cancellation
    /// As for `connect`.
    ///
    /// # Blocking
    /// As for `connect`.
    pub fn connect_timeout(self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        self.connect_within(address, Some(super::tcp::no_zero(timeout)?))
    }

    fn connect_within(self, address: SocketAddr, timeout: Option<Duration>) -> io::Result<TcpStream> {
        if world::is_simulated() {
            self.check_family(&address)?;
            return TcpStream::connect_within(&address, timeout, self.bound_to_any_port()?);
        }
        let socket = Socket::new(std::net::TcpStream::from(self.fd));
        connect(&socket, &address, timeout)?;
        Ok(TcpStream::of(socket))
    }

    /// The awaitable form of [`connect`](Self::connect).
    ///
    /// # Errors
    /// As for `connect`.
    ///
    /// # Cancellation
    /// The socket is closed; a connection that has been made is aborted.
    pub async fn connect_async(self, address: SocketAddr) -> io::Result<TcpStream> {
        if world::is_simulated() {
            self.check_family(&address)?;
            return TcpStream::connect_within_async(&address, None, self.bound_to_any_port()?).await;
        }
        let socket = Socket::new(std::net::TcpStream::from(self.fd));
        connect_async(&socket, &address, None).await?;
        Ok(TcpStream::of(socket))
    }

    fn anywhere(&self) -> io::Result<IpAddr> {
        Ok(match sockopt::socket_domain(&self.fd)? {
            AddressFamily::INET6 => Ipv6Addr::UNSPECIFIED.into(),
            _ => Ipv4Addr::UNSPECIFIED.into(),
        })
    }

    /// In a simulation: what the kernel says of an address of another family.
    fn check_family(&self, address: &SocketAddr) -> io::Result<()> {
        match (sockopt::socket_domain(&self.fd)?, address) {
            (AddressFamily::INET, SocketAddr::V6(_)) => Err(Errno::AFNOSUPPORT.into()),
            (AddressFamily::INET6, SocketAddr::V4(_)) => Err(Errno::INVAL.into()),
            _ => Ok(()),
        }
    }

    /// In a simulation: where it is bound, if it is.
    fn bound_to_any_port(&self) -> io::Result<Option<&simulated::Bound>> {
        match self.bound.get() {
            Some(bound) if bound.is_chosen => {
                let address = bound.address();
                let text = format!(
                    "a simulation chooses from where a connection is made, not {address}: bind to port 0 or not at all there"
                );
                Err(io::Error::new(io::ErrorKind::Unsupported, text))
            }
            bound => Ok(bound),
        }
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<TcpSocket> for OwnedFd {
    /// The descriptor, in non-blocking mode.
    fn from(socket: TcpSocket) -> Self {
        socket.fd
    }
}

impl TryFrom<OwnedFd> for TcpSocket {
    type Error = io::Error;

    fn try_from(fd: OwnedFd) -> io::Result<Self> {
        Self::from_fd(fd)
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local: Option<SocketAddr> = self.local_addr().ok();
        f.debug_struct("TcpSocket").field("fd", &self.fd).field("local", &local).finish()
    }
}
