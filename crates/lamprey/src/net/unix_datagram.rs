//! Datagrams over Unix sockets.
//!
//! Invariant: a datagram to a socket that is not the peer waits for room by trying again, as the kernel sends no event
//! then. All other operations wait for the event.

mod awaiting;

use std::io;
use std::net::Shutdown;
use std::os::fd::BorrowedFd;
use std::os::unix::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SocketAddrAny, SocketAddrUnix, SocketType};

use super::common::{has_timeouts, owns_descriptor};
use super::connect::pauses;
use super::datagram::or_end;
use super::events::readiness_events;
use super::option::buffer_options;
use super::transfer::{RECV, SEND};
use super::unix::{pair_of, socket_of};
use super::unix_address::{by_path, from_kernel, to_kernel};
use crate::driver::readiness::Interest;
use crate::io::socket::Socket;
use crate::sched::{Wait, coop};
use crate::time::pauses::Pauses;
use crate::{time, world};

/// A Unix datagram socket: [`std::os::unix::net::UnixDatagram`] that blocks only the calling host. A datagram arrives whole,
/// once and in order; a sender waits while the receiver's queue is full.
///
/// Dropping it leaves its path in the file system, as in the standard library.
///
/// # Examples
/// ```
/// use lamprey::net::UnixDatagram;
///
/// lamprey::run(|| {
///     let (a, b) = UnixDatagram::pair()?;
///     let asker = lamprey::spawn(move || a.send(b"hello"));
///     let mut buf = [0; 16];
///     let received = b.recv(&mut buf)?;
///     assert_eq!(&buf[..received], b"hello");
///     asker.join().unwrap()
/// })?;
/// # std::io::Result::Ok(())
/// ```
pub struct UnixDatagram(Socket<std::os::unix::net::UnixDatagram>);

owns_descriptor!(UnixDatagram, std::os::unix::net::UnixDatagram);
has_timeouts!(UnixDatagram, std::os::unix::net::UnixDatagram);
readiness_events!(UnixDatagram);
buffer_options!(UnixDatagram);

impl UnixDatagram {
    /// A socket with the name `path`, which must not exist.
    ///
    /// # Errors
    /// The system's (`AddrInUse` when the path exists); `InvalidInput` for a path that is too long (108 bytes) or
    /// contains a zero byte.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::bind_to(&by_path(path.as_ref())?)
    }

    /// A socket with this address, which may be an abstract one.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind).
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::bind_to(&to_kernel(address)?)
    }

    fn bind_to(address: &SocketAddrUnix) -> io::Result<Self> {
        let fd = socket_of(SocketType::DGRAM)?;
        coop::tried(net::bind(&fd, address), Result::is_err)?;
        Ok(Self(Socket::new(fd.into())))
    }

    /// A socket without a name: it can send, and receive once it is part of a pair or bound by others.
    ///
    /// # Errors
    /// The system's, for example when no descriptors are left.
    pub fn unbound() -> io::Result<Self> {
        Ok(Self(Socket::new(socket_of(SocketType::DGRAM)?.into())))
    }

    /// Two sockets that are each other's peer.
    ///
    /// # Errors
    /// The system's, for example when no descriptors are left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = pair_of(SocketType::DGRAM)?;
        Ok((Self(Socket::new(a.into())), Self(Socket::new(b.into()))))
    }

    /// Sets the peer of [`send`](Self::send), by its path; datagrams from other senders are then refused.
    ///
    /// # Errors
    /// The system's; `InvalidInput` as for [`bind`](Self::bind).
    ///
    /// # Blocking
    /// Never.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.connect_to(&by_path(path.as_ref())?)
    }

    /// Sets the peer of [`send`](Self::send), by its address.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    ///
    /// # Blocking
    /// Never.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.connect_to(&to_kernel(address)?)
    }

    fn connect_to(&self, address: &SocketAddrUnix) -> io::Result<()> {
        self.0.check_open()?;
        Ok(coop::tried(net::connect(&self.0, address), Result::is_err)?)
    }

    /// Sends a datagram to the peer that [`connect`](Self::connect) has set.
    ///
    /// # Errors
    /// The system's: `ConnectionRefused` when the peer is gone, `NotConnected` without one; `TimedOut` after the write
    /// timeout.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds room. A thread that is cancelled before that unwinds from here, and has
    /// sent nothing.
    ///
    /// # Blocking
    /// While the peer's queue is full. A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.attempt(Interest::Write, Wait::SocketWrite, self.0.options.write_timeout.get(), |fd| {
            net::send(fd, buf, SEND)
        })
    }

    /// Sends a datagram to the socket at `path`.
    ///
    /// # Errors
    /// The system's (`ConnectionRefused` when the receiver is gone); `InvalidInput` as for [`bind`](Self::bind);
    /// `TimedOut` after the write timeout.
    ///
    /// # Cancellation
    /// As for [`send`](Self::send).
    ///
    /// # Blocking
    /// As for `send`. If the receiver is not the peer, it tries again every few milliseconds, as the kernel sends no event
    /// when there is room.
    pub fn send_to(&self, buf: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.send_to_kernel(buf, &by_path(path.as_ref())?)
    }

    /// Sends a datagram to the socket with this address.
    ///
    /// # Errors
    /// As for [`send_to`](Self::send_to).
    ///
    /// # Cancellation
    /// As for [`send`](Self::send).
    ///
    /// # Blocking
    /// As for `send_to`.
    pub fn send_to_addr(&self, buf: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.send_to_kernel(buf, &to_kernel(address)?)
    }

    fn send_to_kernel(&self, buf: &[u8], address: &SocketAddrUnix) -> io::Result<usize> {
        coop::call(coop::SYSTEM);
        let mut patience = Patience::new(self.0.options.write_timeout.get());
        loop {
            match self.try_send_to(buf, address)? {
                Some(sent) => return Ok(sent),
                None if self.0.options.nonblocking() => return Err(Errno::AGAIN.into()),
                None => self.0.pause(Wait::SocketWrite, patience.next()?)?,
            }
        }
    }

    /// `None` if the receiver's queue is full. It is not waited for as writable: the kernel says that of a socket whose own queue
    /// has room, at each try.
    fn try_send_to(&self, buf: &[u8], address: &SocketAddrUnix) -> io::Result<Option<usize>> {
        self.0.check_open()?;
        match rustix::io::retry_on_intr(|| net::sendto(self.0.get(), buf, SEND, address)) {
            Ok(sent) => Ok(Some(sent)),
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for a datagram from the peer, or from anyone if there is none. Returns the number of its bytes in `buf`; the
    /// rest is lost.
    ///
    /// # Errors
    /// The system's; `TimedOut` after the read timeout.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the socket ready. A thread that is cancelled before that unwinds from
    /// here, and the next receive gets the datagram.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receive(buf, RecvFlags::empty()).map(|(received, _)| received)
    }

    /// Same as [`recv`](Self::recv), and returns the sender's address, which has no name if the sender has none.
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// As for `recv`.
    ///
    /// # Blocking
    /// As for `recv`.
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(buf, RecvFlags::empty()).and_then(with_sender)
    }

    /// Same as [`recv`](Self::recv), but the datagram stays in the socket.
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// As for `recv`.
    ///
    /// # Blocking
    /// As for `recv`.
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receive(buf, RecvFlags::PEEK).map(|(received, _)| received)
    }

    /// Same as [`recv_from`](Self::recv_from), but the datagram stays in the socket.
    ///
    /// # Errors
    /// As for `recv`.
    ///
    /// # Cancellation
    /// As for `recv`.
    ///
    /// # Blocking
    /// As for `recv`.
    pub fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(buf, RecvFlags::PEEK).and_then(with_sender)
    }

    fn receive(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<(usize, Option<SocketAddrAny>)> {
        let timeout = self.0.options.read_timeout.get();
        self.0.attempt(Interest::Read, Wait::SocketRead, timeout, |fd| receive(fd, buf, flags))
    }

    /// The address of this socket.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }

    /// The address of the peer.
    ///
    /// # Errors
    /// The system's; `NotConnected` without a peer.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        coop::look();
        self.0.get().peer_addr()
    }

    /// Shuts down one direction, or both. Threads that wait in that direction are woken: receives return 0 bytes once nothing is
    /// left, and sends fail with `BrokenPipe`. (A thread that waits for room at a clone hears of it when there is room: the kernel tells it
    /// nothing.)
    ///
    /// # Errors
    /// The system's.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.0.get().shutdown(how)?;
        // The kernel says nothing of it to those that wait.
        self.0.retry_all();
        Ok(())
    }

    fn shut_down_for_close(&self) {
        // A peer that sends is told; that the socket has none is no error.
        let _ = self.0.get().shutdown(Shutdown::Both);
    }
}

/// What is there; nothing at the end of a socket that was shut down.
fn receive(
    fd: BorrowedFd<'_>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<SocketAddrAny>), Errno> {
    let mut receive =
        || net::recvfrom(fd, &mut *buf, flags | RECV).map(|(received, _, from)| (received, from));
    or_end(fd, || true, (0, None), &mut receive)
}

fn with_sender((received, from): (usize, Option<SocketAddrAny>)) -> io::Result<(usize, SocketAddr)> {
    Ok((received, from_kernel(from)?))
}

/// The pauses of a sender while a receiver's queue is full, within its timeout.
struct Patience {
    pauses: Pauses,
    deadline: Option<Instant>,
}

impl Patience {
    fn new(timeout: Option<Duration>) -> Self {
        Self { pauses: pauses(), deadline: timeout.and_then(time::deadline) }
    }

    /// How long to wait before the next try.
    ///
    /// # Errors
    /// `TimedOut` if no time is left.
    fn next(&mut self) -> io::Result<Duration> {
        let pause = self.pauses.next();
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(world::now()));
        match left {
            Some(Duration::ZERO) => Err(io::ErrorKind::TimedOut.into()),
            Some(left) => Ok(pause.min(left)),
            None => Ok(pause),
        }
    }
}
