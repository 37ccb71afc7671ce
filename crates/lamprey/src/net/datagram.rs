//! The system calls of datagrams; in a simulation its network has them.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SocketAddrAny};

use super::simulated;
use super::transfer::{RECV, SEND};

pub(super) fn receive(
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

/// From the peer that `connect` has set.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn receive_from_peer(
    fd: BorrowedFd<'_>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Result<usize, Errno> {
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
