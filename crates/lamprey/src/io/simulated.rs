//! Sockets of a simulation, where they differ from others: how they end.
//!
//! The kernel knows them as Unix sockets whose peer ends them plainly; the network knows why. All of it is asked only after
//! a call has failed or found the end, so that other sockets pay nothing for it.

use crate::world::{self, World};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

const NEXT: RecvFlags = RecvFlags::PEEK.union(RecvFlags::DONTWAIT);

/// What has been received into `room`: at the end of a stream, what the simulated network has for it, which may be an error.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn received(
    socket: impl AsFd,
    count: usize,
    room: &mut [MaybeUninit<u8>],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    if count == 0 { at_end(socket.as_fd(), room, flags) } else { Ok(count) }
}

#[cold]
#[inline(never)]
fn at_end(socket: BorrowedFd<'_>, room: &mut [MaybeUninit<u8>], flags: RecvFlags) -> Result<usize, Errno> {
    // Data that is there comes before the end.
    let is_end = || matches!(net::recv(socket, &mut [0; 1], NEXT), Ok((0, _)));
    if room.is_empty() && !(world::is_simulated() && is_end()) {
        return Ok(0);
    }
    let peeks = flags.contains(RecvFlags::PEEK);
    world::with(|world: &World| world.net.read_at_end(world, socket, room, peeks)).unwrap_or(Ok(0))
}

/// The error of a call on the socket: `error`, or the one with which the simulated network has ended it.
#[cold]
#[inline(never)]
pub(crate) fn failed(socket: BorrowedFd<'_>, error: Errno) -> std::io::Error {
    let ended = matches!(error, Errno::PIPE | Errno::CONNRESET).then(|| take_error(socket)).flatten();
    ended.unwrap_or(error).into()
}

/// The error with which the simulated network has ended the socket, once.
#[cold]
pub(crate) fn take_error(socket: BorrowedFd<'_>) -> Option<Errno> {
    world::with(|world: &World| world.net.take_error(socket)).flatten()
}
