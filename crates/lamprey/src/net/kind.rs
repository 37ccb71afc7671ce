//! Of which kind a descriptor is, before a socket type takes it.

use super::simulated;
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SocketType, getpeername, ipproto, sockopt};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The socket types, by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    TcpSocket,
    TcpStream,
    TcpListener,
    UdpSocket,
    UnixStream,
    UnixListener,
    UnixDatagram,
}

/// What can be a TCP socket. (Of other protocols, as SCTP, a read may stop before all has been read: `io::socket::drained`.)
const TCP: [Option<Protocol>; 2] = [Some(ipproto::TCP), Some(ipproto::MPTCP)];

/// Fails if `fd` is no socket that the type of this kind can use.
///
/// # Errors
/// `InvalidInput`, with what it is; the system's.
pub(super) fn check(fd: BorrowedFd<'_>, kind: Kind) -> io::Result<()> {
    check_type(fd, kind)?;
    if simulated::is_known(fd) {
        return Ok(());
    }
    let listens = sockopt::socket_acceptconn(fd)?;
    match kind {
        Kind::TcpListener | Kind::UnixListener if !listens => {
            Err(wrong(fd, kind, "a socket that does not listen"))
        }
        Kind::TcpSocket if getpeername(fd).is_ok() => Err(wrong(fd, kind, "a socket that is connected")),
        Kind::TcpStream | Kind::TcpSocket | Kind::UnixStream if listens => {
            Err(wrong(fd, kind, "a socket that listens"))
        }
        _ => Ok(()),
    }
}

/// The part of [`check`] that says nothing of the socket's state.
///
/// # Errors
/// As there.
pub(super) fn check_type(fd: BorrowedFd<'_>, kind: Kind) -> io::Result<()> {
    if simulated::is_known(fd) {
        return Ok(());
    }
    let family = match sockopt::socket_domain(fd) {
        Err(Errno::NOTSOCK) => return Err(wrong(fd, kind, "no socket")),
        family => family?,
    };
    let is_unix = matches!(kind, Kind::UnixStream | Kind::UnixListener | Kind::UnixDatagram);
    let is_family = match family {
        AddressFamily::UNIX => is_unix,
        AddressFamily::INET | AddressFamily::INET6 => !is_unix,
        _ => false,
    };
    if !is_family {
        return Err(wrong(fd, kind, &format!("a socket of the family {}", family.as_raw())));
    }
    let is_datagram = matches!(kind, Kind::UdpSocket | Kind::UnixDatagram);
    match sockopt::socket_type(fd)? {
        SocketType::STREAM if is_unix && !is_datagram => Ok(()),
        SocketType::STREAM if !is_datagram => match sockopt::socket_protocol(fd)? {
            protocol if TCP.contains(&protocol) => Ok(()),
            protocol => {
                let number = protocol.map_or(0, |protocol| protocol.as_raw().get());
                Err(wrong(fd, kind, &format!("a socket of the protocol {number}")))
            }
        },
        SocketType::DGRAM if is_datagram => Ok(()),
        SocketType::STREAM => Err(wrong(fd, kind, "a stream socket")),
        SocketType::DGRAM => Err(wrong(fd, kind, "a datagram socket")),
        other => Err(wrong(fd, kind, &format!("a socket of the type {}", other.as_raw()))),
    }
}

fn wrong(fd: BorrowedFd<'_>, kind: Kind, what: &str) -> io::Error {
    let text = format!("descriptor {} cannot be a {kind:?}: it is {what}", fd.as_raw_fd());
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
