//! What sockets do in a simulation instead of asking the kernel (`world::net` has the network).
//!
//! Most of it is asked after the kernel has refused a call, because it takes the socket for a Unix socket: so the sockets of
//! other programs pay nothing for it.

use crate::driver::readiness::Interest;
use crate::io::simulated::take_error;
use crate::io::socket::Socket;
use crate::sched::Wait;
use crate::world::net::{Head, sender};
use crate::world::{self, World};
use rustix::io::Errno;
use rustix::net::{self, RecvAncillaryBuffer, RecvFlags, SocketAddrAny};
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::transfer::RECV;

/// What `f` says of the calling thread's world; `None` outside of a simulation.
#[inline]
fn ask<R>(f: impl FnOnce(&World) -> R) -> Option<R> {
    #[cold]
    #[inline(never)]
    fn ask_now<R>(f: impl FnOnce(&World) -> R) -> Option<R> {
        world::with(f)
    }
    if world::is_simulated() { ask_now(f) } else { None }
}

/// The addresses of a name; `None` outside of a simulation.
pub(super) fn look_up(host: &str, port: u16) -> Option<io::Result<Vec<SocketAddr>>> {
    world::with(|world| {
        world.net.look_up(world, host, port).map(|address| vec![address]).ok_or_else(|| {
            let text = format!("cannot look up \"{host}\": the simulation has no machine of this name");
            io::Error::new(io::ErrorKind::NotFound, text)
        })
    })
}

/// Where a socket of a simulation is bound, until this is dropped.
#[derive(Debug)]
pub(super) struct Bound {
    place: world::net::Bound,
    /// The program has chosen the port.
    pub(super) is_chosen: bool,
}

impl Bound {
    pub(super) fn address(&self) -> SocketAddr {
        self.place.address()
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // In another simulation, or after its own, it names nothing.
        world::with(|world| world.net.unbind(&self.place));
    }
}

/// Binds a socket of the kernel's in a simulation; `None` outside of one.
pub(super) fn bind(socket: BorrowedFd<'_>, at: SocketAddr) -> Option<Result<Bound, Errno>> {
    ask(|world| {
        let place = world.net.bind(world, socket, at, net::sockopt::socket_reuseaddr(socket)?)?;
        Ok(Bound { place, is_chosen: at.port() != 0 })
    })
}

/// A socket that connects to `to`, from the port of `bound`; `None` outside of a simulation.
pub(super) fn connect(to: &SocketAddr, bound: Option<&Bound>) -> Option<Result<OwnedFd, Errno>> {
    ask(|world| world.net.connect(world, *to, bound.map(|bound| &bound.place)))
}

/// Waits until the socket of [`connect`] is connected.
pub(super) fn connected<S: AsFd>(socket: &Socket<S>, timeout: Option<Duration>) -> io::Result<()> {
    socket.attempt(Interest::Read, Wait::Connect, timeout, is_connected)
}

/// The awaitable form of [`connected`].
pub(super) fn connected_async<S: AsFd>(
    socket: &Socket<S>,
    timeout: Option<Duration>,
) -> impl Future<Output = io::Result<()>> {
    socket.attempt_async(Interest::Read, timeout, is_connected)
}

fn is_connected(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    match net::recv(fd, &mut [0; 1], RECV)?.0 {
        0 => Err(take_error(fd).unwrap_or(Errno::CONNABORTED)),
        _ => Ok(()),
    }
}

/// A listening socket; `None` outside of a simulation.
pub(super) fn listen(at: &SocketAddr, backlog: i32) -> Option<Result<OwnedFd, Errno>> {
    ask(|world| world.net.listen(world, *at, backlog as usize))
}

/// Makes a socket that is bound listen; `None` outside of a simulation.
pub(super) fn listen_where_bound(bound: &Bound, backlog: i32) -> Option<Result<OwnedFd, Errno>> {
    ask(|world| world.net.listen_where_bound(world, &bound.place, backlog as usize))
}

/// Accepts from a socket that the kernel says is no listener.
#[cold]
pub(super) fn accept(fd: BorrowedFd<'_>) -> Result<(OwnedFd, Option<SocketAddrAny>), Errno> {
    if known(fd, |_| ()).is_none() || net::recv(fd, &mut [0; 1], RECV)?.0 == 0 {
        return Err(Errno::INVAL);
    }
    let accepted = world::with(|world| world.net.accept(world, fd)).flatten();
    accepted.map(|(fd, peer)| (fd, Some(peer.into()))).ok_or(Errno::INVAL)
}

/// Before a socket is shut down.
///
/// # Errors
/// `ENOTCONN` for one of a simulation that is not connected any more; its carrier would say nothing.
pub(super) fn shut_down(socket: impl AsFd, how: std::net::Shutdown) -> io::Result<()> {
    let how = match how {
        std::net::Shutdown::Read => net::Shutdown::Read,
        std::net::Shutdown::Write => net::Shutdown::Write,
        std::net::Shutdown::Both => net::Shutdown::Both,
    };
    Ok(ask(|world| world.net.shut_down(world, socket, how)).unwrap_or(Ok(()))?)
}

/// What the simulation knows of a socket that is its own.
fn known<R>(socket: impl AsFd, f: impl FnOnce(&mut world::net::Known) -> R) -> Option<R> {
    ask(|world| world.net.known(socket, f)).flatten()
}

/// What the kernel has said, or in place of an error what the simulation knows.
fn or<R>(
    result: io::Result<R>,
    socket: impl AsFd,
    f: impl FnOnce(&mut world::net::Known) -> R,
) -> io::Result<R> {
    result.or_else(|error| known(socket, f).ok_or(error))
}

pub(super) fn local_addr(result: io::Result<SocketAddr>, socket: impl AsFd) -> io::Result<SocketAddr> {
    or(result, socket, |known| known.local)
}

pub(super) fn peer_addr(result: io::Result<SocketAddr>, socket: impl AsFd) -> io::Result<SocketAddr> {
    or(result.map(Some), socket, |known| known.peer)?.ok_or_else(|| Errno::NOTCONN.into())
}

pub(super) fn set_nodelay(result: io::Result<()>, socket: impl AsFd, on: bool) -> io::Result<()> {
    or(result, socket, |known| known.nodelay = on)
}

pub(super) fn nodelay(result: io::Result<bool>, socket: impl AsFd) -> io::Result<bool> {
    or(result, socket, |known| known.nodelay)
}

pub(super) fn set_ttl(result: io::Result<()>, socket: impl AsFd, ttl: u32) -> io::Result<()> {
    let result = result.map(Some);
    let is_good = (1..=255).contains(&ttl);
    or(result, socket, |known| is_good.then(|| known.ttl = ttl))?.ok_or_else(|| Errno::INVAL.into())
}

pub(super) fn ttl(result: io::Result<u32>, socket: impl AsFd) -> io::Result<u32> {
    or(result, socket, |known| known.ttl)
}

/// True if the socket is the simulation's.
pub(super) fn is_known(socket: BorrowedFd<'_>) -> bool {
    known(socket, |_| ()).is_some()
}

/// Keeps the value of an option, or refuses it as the kernel does; `None` if the socket is not the simulation's.
pub(super) fn set_option(
    socket: BorrowedFd<'_>,
    name: &'static str,
    value: u64,
    is_allowed: impl FnOnce() -> bool,
) -> Option<Result<(), Errno>> {
    known(socket, |known| {
        if !is_allowed() {
            return Err(Errno::INVAL);
        }
        known.options.insert(name, value);
        Ok(())
    })
}

/// The value of an option, or 0; `None` if the socket is not the simulation's.
pub(super) fn option(socket: BorrowedFd<'_>, name: &'static str) -> Option<u64> {
    known(socket, |known| known.options.get(name).copied().unwrap_or(0))
}

/// A datagram socket; `None` outside of a simulation.
pub(super) fn bind_datagrams(at: &SocketAddr) -> Option<Result<OwnedFd, Errno>> {
    ask(|world| world.net.bind_datagrams(world, *at))
}

/// Sets a datagram socket's peer; `None` if the socket is not the simulation's.
pub(super) fn connect_datagrams(socket: impl AsFd, peer: &SocketAddr) -> Option<Result<(), Errno>> {
    ask(|world| world.net.connect_datagrams(socket, *peer)).flatten()
}

/// True if datagrams are sent and received by this file. Rarely wrong: a socket from outside of the simulation.
#[inline]
pub(super) fn has_datagrams() -> bool {
    world::is_simulated()
}

/// Sends a datagram; `None` if the socket is not the simulation's.
#[cold]
#[inline(never)]
pub(super) fn send_datagram(
    fd: BorrowedFd<'_>,
    bytes: &[u8],
    to: Option<SocketAddr>,
) -> Option<Result<usize, Errno>> {
    // A send reports that an earlier one was refused; so does the kernel's.
    if let Some(refused) = take_error(fd) {
        return Some(Err(refused));
    }
    world::with(|world| world.net.send_datagram(world, fd, to, bytes)).flatten()
}

/// Receives a datagram; `None` if the socket is not the simulation's.
#[cold]
#[inline(never)]
pub(super) fn receive_datagram(
    fd: BorrowedFd<'_>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Option<Result<(usize, SocketAddr), Errno>> {
    known(fd, |_| ()).map(|()| receive_with_head(fd, buf, flags))
}

fn receive_with_head(
    fd: BorrowedFd<'_>,
    buf: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, SocketAddr), Errno> {
    let mut head = Head::default();
    let mut parts = [IoSliceMut::new(&mut head), IoSliceMut::new(buf)];
    let received = net::recvmsg(fd, &mut parts, &mut RecvAncillaryBuffer::default(), flags | RECV)?;
    let Some(count) = received.bytes.checked_sub(head.len()) else {
        // Its machine has crashed.
        return Err(Errno::NETDOWN);
    };
    Ok((count, sender(&head)?))
}
