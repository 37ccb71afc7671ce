//! The system calls of datagrams; in a simulation its network has them.
//!
//! A receive asks whether the socket was shut down only once the kernel has reported that, or an error: an ordinary one costs no call
//! more.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SocketAddrAny};

use super::simulated;
use super::transfer::{RECV, SEND};
use crate::io::ready::reads_to_an_end;
use crate::io::socket::Socket;

/// What `receive` finds; `end` if there is nothing, and there will be nothing because the socket has been shut down, through
/// whichever value, or by another process. (The kernel says of that to a non-blocking socket that it is to wait.)
#[inline]
pub(super) fn or_end<T>(
    fd: BorrowedFd<'_>,
    may_be_at_end: impl FnOnce() -> bool,
    end: T,
    mut receive: impl FnMut() -> Result<T, Errno>,
) -> Result<T, Errno> {
    match receive() {
        // Once more: what came before the end.
        Err(Errno::AGAIN) if may_be_at_end() && reads_to_an_end(fd) => match receive() {
            Err(Errno::AGAIN) => Ok(end),
            received => received,
        },
        received => received,
    }
}

/// No bytes and no sender at the end of a socket that was shut down.
pub(super) fn receive<S: AsFd>(
    socket: &Socket<S>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<SocketAddrAny>), Errno> {
    let fd = socket.as_fd();
    or_end(fd, || socket.may_be_at_end(), (0, None), || receive_at_once(fd, buf, flags))
}

fn receive_at_once(
    fd: BorrowedFd<'_>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<SocketAddrAny>), Errno> {
    if simulated::has_datagrams()
        && let Some(received) = simulated::receive_datagram(fd, buf, flags)
    {
        return received.map(|(count, from)| (count, Some(from.into())));
    }
    net::recvfrom(fd, buf, flags | RECV).map(|(received, _, from)| (received, from))
}

/// From the peer that `connect` has set; no bytes at the end of a socket that was shut down.
#[inline]
pub(super) fn receive_from_peer<S: AsFd>(
    socket: &Socket<S>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    let fd = socket.as_fd();
    or_end(fd, || socket.may_be_at_end(), 0, || receive_from_peer_at_once(fd, buf, flags))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn receive_from_peer_at_once(fd: BorrowedFd<'_>, buf: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
    if simulated::has_datagrams()
        && let Some(received) = simulated::receive_datagram(fd, buf, flags)
    {
        return received.map(|(count, _)| count);
    }
    net::recv(fd, buf, flags | RECV).map(|(received, _)| received)
}

/// To this address.
pub(super) fn send_to(fd: BorrowedFd<'_>, buf: &[u8], to: &SocketAddr) -> Result<usize, Errno> {
    if simulated::has_datagrams()
        && let Some(sent) = simulated::send_datagram(fd, buf, Some(*to))
    {
        return sent;
    }
    net::sendto(fd, buf, SEND, to)
}

/// To the peer that `connect` has set.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn send(fd: BorrowedFd<'_>, buf: &[u8]) -> Result<usize, Errno> {
    if simulated::has_datagrams()
        && let Some(sent) = simulated::send_datagram(fd, buf, None)
    {
        return sent;
    }
    net::send(fd, buf, SEND)
}

/// # Errors
/// `InvalidInput` at the end of a socket that was shut down, where the kernel gives no address.
pub(super) fn with_sender(
    (received, from): (usize, Option<SocketAddrAny>),
) -> io::Result<(usize, SocketAddr)> {
    let from = from.ok_or_else(|| {
        let text = "there is no datagram and no sender: the socket has been shut down";
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    Ok((received, from.try_into()?))
}
