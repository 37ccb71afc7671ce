//! [`Datagrams`]: sockets that send and receive datagrams.
//!
//! The carrier keeps the boundaries of messages. Each message to the program begins with a [`Head`](super::Head): where the
//! datagram comes from. What the program sends does not go through the carrier: it never has to wait.

use super::super::MachineId;
use super::State;
use super::address;
use super::carrier::{self, key};
use super::head::{Head, sender};
use super::names::At;
use super::ports::{Protocol, Use};
use super::{Net, World};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketType, recv, sockopt};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

pub(super) struct Datagrams {
    pub(super) machine: MachineId,
    pub(super) at: SocketAddr,
    pub(super) peer: Option<SocketAddr>,
    pub(super) end: OwnedFd,
}

/// The error of a datagram socket of the program: an earlier datagram was refused. Found if that is next in its queue.
pub(super) fn take_refusal(socket: impl AsFd) -> Option<Errno> {
    let mut head = Head::default();
    let mut next = |flags: RecvFlags| {
        let count = recv(&socket, &mut head[..], flags | RecvFlags::DONTWAIT).ok()?.0;
        sender(&head).err().filter(|_| count == head.len())
    };
    next(RecvFlags::PEEK).and_then(|_| next(RecvFlags::empty()))
}

impl Net {
    /// A datagram socket of the running thread's machine.
    ///
    /// # Errors
    /// As for [`listen`](Net::listen).
    pub(crate) fn bind_datagrams(&self, world: &World, at: SocketAddr) -> Result<OwnedFd, Errno> {
        self.with(|state| {
            state.attend(world);
            let machine = world.machine();
            if !state.topology.is_up(machine) {
                return Err(Errno::NETDOWN);
            }
            let number = state.new_number();
            let at = state.ports.bind(machine, Protocol::Udp, at, (number, Use::Receives))?;
            let made = state.carriers.make(key(number, 0), SocketType::SEQPACKET, at, None);
            let release = |_: &Errno| state.ports.release(machine, Protocol::Udp, at.port(), number);
            let (end, theirs) = made.inspect_err(release)?;
            state.datagrams.insert(number, Datagrams { machine, at, peer: None, end });
            world.note(format_args!("{} is bound", At(state.name(machine), at.port())));
            Ok(theirs)
        })
    }

    /// Sets where a datagram socket sends to, and from where it receives; `None` if it is none of the network's.
    pub(crate) fn connect_datagrams(
        &self,
        socket: impl AsFd,
        mut peer: SocketAddr,
    ) -> Option<Result<(), Errno>> {
        self.with(|state| {
            let known = state.carriers.known(socket)?;
            let datagrams = state.datagrams.get_mut(&carrier::whose(known.key).0)?;
            if let Err(error) = address::of_same_family(datagrams.at, peer) {
                return Some(Err(error));
            }
            peer.set_ip(address::meant(peer.ip()));
            if address::reached(peer.ip(), datagrams.machine).is_none() {
                return Some(Err(Errno::NETUNREACH));
            }
            let seen = |address| address::as_seen_from(datagrams.at.ip(), address);
            if datagrams.at.ip().is_unspecified() {
                known.local.set_ip(address::facing(datagrams.machine, peer.ip()));
                known.local = seen(known.local);
            }
            known.peer = Some(seen(peer));
            datagrams.peer = Some(peer);
            Some(Ok(()))
        })
    }

    /// Sends a datagram, to the socket's peer if `to` is `None`; `None` if the socket is none of the network's.
    pub(crate) fn send_datagram(
        &self,
        world: &World,
        socket: impl AsFd,
        to: Option<SocketAddr>,
        bytes: &[u8],
    ) -> Option<Result<usize, Errno>> {
        self.with(|state| {
            let number = carrier::whose(state.carriers.known(&socket)?.key).0;
            let may_broadcast = sockopt::socket_broadcast(socket).unwrap_or(false);
            Some(state.send_datagram(world, number, to, bytes, may_broadcast))
        })
    }
}

impl State {
    pub(super) fn close_datagrams(&mut self, world: &World, number: u64) {
        if let Some(Datagrams { machine, at, .. }) = self.datagrams.remove(&number) {
            self.ports.release(machine, Protocol::Udp, at.port(), number);
            world.note(format_args!("{} is not bound any more", At(self.name(machine), at.port())));
        }
    }

    /// Forgets the datagram sockets of a machine that has crashed.
    pub(super) fn lose_datagrams(&mut self, machine: MachineId) {
        for (number, lost) in self.datagrams.extract_if(.., |_, datagrams| datagrams.machine == machine) {
            self.ports.release(machine, Protocol::Udp, lost.at.port(), number);
            self.topology.keep(machine, Some(lost.end));
        }
    }
}
