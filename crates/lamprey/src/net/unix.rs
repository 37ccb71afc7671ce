//! Unix sockets: streams between processes of one machine, named by a path or by an abstract name.

use std::future::Future;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::SocketAddr;
use std::path::Path;

use rustix::net::{self, AddressFamily, Shutdown, SocketAddrUnix, SocketType};

use super::common::{has_timeouts, is_stream, owns_descriptor};
use super::connect::{connect_unix, connect_unix_async};
use super::events::{listener_events, stream_events};
use super::listen::{self, is_listener};
use super::option::buffer_options;
use super::peer_cred::{self, PeerCred};
use super::stream_async::is_stream_async;
use super::stream_poll::is_stream_poll;
use super::transfer::SOCKET_FLAGS;
use super::unix_address::{by_path, to_kernel};
use crate::io::socket::Socket;
use crate::sched::coop;
use crate::sched::coop_async::take_a_turn_async;

/// A Unix stream: [`std::os::unix::net::UnixStream`] that blocks only the calling host.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
///
/// lamprey::run(|| {
///     let (mut a, mut b) = lamprey::net::UnixStream::pair()?;
///     let writer = lamprey::spawn(move || a.write_all(b"hello"));
///     let mut text = String::new();
///     b.read_to_string(&mut text)?;
///     assert_eq!(text, "hello");
///     writer.join().unwrap()
/// })?;
/// # std::io::Result::Ok(())
/// ```
pub struct UnixStream(Socket<std::os::unix::net::UnixStream>);

owns_descriptor!(UnixStream, std::os::unix::net::UnixStream);
has_timeouts!(UnixStream, std::os::unix::net::UnixStream);
is_stream!(UnixStream);
is_stream_async!(UnixStream);
is_stream_poll!(UnixStream);
stream_events!(UnixStream);
buffer_options!(UnixStream);

impl UnixStream {
    /// Connects to the listener at `path`.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for a path that is too long (108 bytes) or contains a zero byte.
    ///
    /// # Cancellation
    /// A thread that is cancelled while it waits unwinds from here, and has made no connection.
    ///
    /// # Blocking
    /// Only while the listener's queue is full. It then retries every few milliseconds, because the kernel
    /// sends no event when there is room.
    pub fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::connect_to(&by_path(path.as_ref())?)
    }

    /// Connects to the listener with this address, which may be an abstract one.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    ///
    /// # Cancellation
    /// As for `connect`.
    ///
    /// # Blocking
    /// As for `connect`.
    pub fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::connect_to(&to_kernel(address)?)
    }

    /// The awaitable form of [`connect`](Self::connect).
    ///
    /// # Errors
    /// As for `connect`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has made no connection.
    pub async fn connect_async(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::connect_to_async(&by_path(path.as_ref())?).await
    }

    /// The awaitable form of [`connect_addr`](Self::connect_addr).
    ///
    /// # Errors
    /// As for `connect`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has made no connection.
    pub async fn connect_addr_async(address: &SocketAddr) -> io::Result<Self> {
        Self::connect_to_async(&to_kernel(address)?).await
    }

    fn connect_to(address: &SocketAddrUnix) -> io::Result<Self> {
        let stream = Self(Socket::new(socket_of(SocketType::STREAM)?.into()));
        coop::tried(connect_unix(&stream.0, address), Result::is_err)?;
        Ok(stream)
    }

    async fn connect_to_async(address: &SocketAddrUnix) -> io::Result<Self> {
        take_a_turn_async(1).await;
        let stream = Self(Socket::new(socket_of(SocketType::STREAM)?.into()));
        connect_unix_async(&stream.0, address).await?;
        Ok(stream)
    }

    /// Two streams that are connected to each other.
    ///
    /// # Errors
    /// The system's, for example when no descriptors are left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = pair_of(SocketType::STREAM)?;
        Ok((Self(Socket::new(a.into())), Self(Socket::new(b.into()))))
    }

    /// Which process is at the other end: user, group and number, as they were when it connected or listened.
    ///
    /// # Examples
    /// ```
    /// let (here, _there) = lamprey::net::UnixStream::pair()?;
    /// assert_eq!(here.peer_cred()?.pid(), Some(std::process::id()));
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's.
    #[doc(alias = "SO_PEERCRED")]
    pub fn peer_cred(&self) -> io::Result<PeerCred> {
        peer_cred::of(self.as_fd())
    }

    /// The address at the other end.
    ///
    /// # Errors
    /// The system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        coop::look();
        self.0.get().peer_addr()
    }

    /// The address at this end.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }
}

/// A listening Unix socket: [`std::os::unix::net::UnixListener`] that blocks only the calling host.
///
/// Dropping it leaves its path in the file system, as in the standard library.
pub struct UnixListener(Socket<std::os::unix::net::UnixListener>);

owns_descriptor!(UnixListener, std::os::unix::net::UnixListener);
is_listener!(UnixListener, UnixStream, SocketAddr);
listener_events!(UnixListener, UnixStream, SocketAddr);

impl UnixListener {
    /// Listens at `path`, which must not exist.
    ///
    /// # Errors
    /// The system's (`AddrInUse` when the path exists); `InvalidInput` for a path that is too long or
    /// contains a zero byte.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::bind_to(&by_path(path.as_ref())?)
    }

    /// Listens at this address, which may be an abstract one.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind).
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::bind_to(&to_kernel(address)?)
    }

    fn bind_to(address: &SocketAddrUnix) -> io::Result<Self> {
        let fd = socket_of(SocketType::STREAM)?;
        coop::tried(net::bind(&fd, address), Result::is_err)?;
        net::listen(&fd, listen::BACKLOG)?;
        Ok(Self(Socket::new(fd.into())))
    }

    /// Waits for a connection. Several threads may wait at once.
    ///
    /// # Errors
    /// The system's; see [`TcpListener::accept`](super::TcpListener::accept).
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before
    /// that unwinds from here, and a connection stays in the queue for the next call.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        listen::accept(&self.0).and_then(accepted)
    }

    /// The awaitable form of [`accept`](Self::accept). Several threads and futures may wait at once.
    ///
    /// # Errors
    /// As for `accept`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has accepted nothing.
    pub fn accept_async(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> + Send {
        let accepting = listen::accept_async(&self.0);
        async { accepting.await.and_then(accepted) }
    }

    /// The address that the socket listens on.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }

    fn adopt(socket: std::os::unix::net::UnixListener) -> io::Result<Self> {
        Socket::adopt(socket).map(Self)
    }

    fn release(self) -> io::Result<std::os::unix::net::UnixListener> {
        self.0.release()
    }

    fn shut_down_for_close(&self) {
        // Stops listening, so that new connections are refused while the value lives. Fails when the socket
        // has been shut down already.
        let _ = net::shutdown(&self.0, Shutdown::Both);
    }
}

/// The stream for a descriptor from `accept`, and the peer's address.
fn accepted((fd, _): (OwnedFd, Option<net::SocketAddrAny>)) -> io::Result<(UnixStream, SocketAddr)> {
    let stream = UnixStream(Socket::new(fd.into()));
    // `peer_addr` and not the address from `accept`: the standard library also handles unnamed addresses, and
    // paths without the terminating zero.
    let address = stream.peer_addr()?;
    Ok((stream, address))
}

/// A Unix socket of this type, in non-blocking mode.
pub(super) fn socket_of(kind: SocketType) -> io::Result<OwnedFd> {
    let made = net::socket_with(AddressFamily::UNIX, kind, SOCKET_FLAGS, None);
    Ok(coop::looked(made, Result::is_err)?)
}

/// Two that are each other's peer.
pub(super) fn pair_of(kind: SocketType) -> io::Result<(OwnedFd, OwnedFd)> {
    let made = net::socketpair(AddressFamily::UNIX, kind, SOCKET_FLAGS, None);
    Ok(coop::looked(made, Result::is_err)?)
}
