//! [`Datagrams`]: sockets that send and receive datagrams.
//!
//! The carrier keeps the boundaries of messages. Each message to the program begins with a [`Head`], which says where the
//! datagram comes from. What the program sends does not go through the carrier: it never has to wait.

use super::super::MachineId;
use super::State;
use super::address;
use super::carrier::{self, key};
use super::names::At;
use super::ports::Protocol;
use super::{Net, World};
use rustix::io::Errno;
use rustix::net::{SocketType, sockopt};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

/// The largest datagram (UDP over IPv4).
const MOST: usize = 65_507;

pub(super) struct Datagrams {
    machine: MachineId,
    at: SocketAddr,
    peer: Option<SocketAddr>,
    end: OwnedFd,
}

/// What stands before each message in the carrier.
pub(crate) type Head = [u8; 20];

/// The datagram's sender; or the error that is there instead of a datagram.
pub(crate) fn sender(head: &Head) -> Result<SocketAddr, Errno> {
    let [refused, v4, one, other, address @ ..] = *head;
    if refused != 0 {
        return Err(Errno::CONNREFUSED);
    }
    let ip = IpAddr::from(address);
    let ip = if v4 != 0 { ip.to_canonical() } else { ip };
    Ok(SocketAddr::new(ip, u16::from_be_bytes([one, other])))
}

fn head(from: SocketAddr, is_refused: bool) -> Head {
    let mut head = [0; 20];
    head[0] = is_refused.into();
    head[1] = from.is_ipv4().into();
    head[2..4].copy_from_slice(&from.port().to_be_bytes());
    let bytes = match from.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    head[4..].copy_from_slice(&bytes);
    head
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
            let at = state.ports.bind(machine, Protocol::Udp, at, number)?;
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
            peer.set_ip(address::meant(peer.ip()));
            if address::reached(peer.ip(), datagrams.machine).is_none() {
                return Some(Err(Errno::NETUNREACH));
            }
            if datagrams.at.ip().is_unspecified() {
                known.local.set_ip(address::facing(datagrams.machine, peer.ip()));
            }
            known.peer = Some(peer);
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

/// A datagram under way.
#[derive(Clone)]
struct Sent {
    socket: u64,
    from: SocketAddr,
    way: (MachineId, MachineId),
    to: SocketAddr,
    bytes: Rc<[u8]>,
}

impl State {
    fn send_datagram(
        &mut self,
        world: &World,
        socket: u64,
        to: Option<SocketAddr>,
        bytes: &[u8],
        may_broadcast: bool,
    ) -> Result<usize, Errno> {
        // Its machine has crashed.
        let sender = self.datagrams.get(&socket).ok_or(Errno::NETDOWN)?;
        let mut to = to.or(sender.peer).ok_or(Errno::DESTADDRREQ)?;
        to.set_ip(address::meant(to.ip()));
        let (own, mut from) = (sender.machine, sender.at);
        if from.ip().is_unspecified() {
            from.set_ip(address::facing(own, to.ip()));
        }
        if bytes.len() > MOST {
            return Err(Errno::MSGSIZE);
        }
        let reached = if to.ip() == IpAddr::V4(Ipv4Addr::BROADCAST) {
            if !may_broadcast {
                return Err(Errno::ACCESS);
            }
            (0..self.topology.machines.len() as u32).map(MachineId).collect()
        } else {
            vec![address::reached(to.ip(), own).ok_or(Errno::NETUNREACH)?]
        };
        let bytes: Rc<[u8]> = bytes.into();
        for machine in reached {
            self.transmit(world, Sent { socket, from, way: (own, machine), to, bytes: bytes.clone() });
        }
        Ok(bytes.len())
    }

    fn note_datagram(&self, world: &World, sent: &Sent, what: &str) {
        let (from, to) =
            (At(self.name(sent.way.0), sent.from.port()), At(self.name(sent.way.1), sent.to.port()));
        world.note(format_args!("{from} > {to}: datagram of {} bytes{what}", sent.bytes.len()));
    }

    fn transmit(&mut self, world: &World, sent: Sent) {
        self.note_datagram(world, &sent, "");
        // A reset means nothing to it.
        self.tempt(world, sent.way);
        let link = self.topology.link(sent.way);
        if link.loses(&world.chance) {
            return self.note_datagram(world, &sent, ", lost");
        }
        let busy = self.topology.occupy(sent.way, sent.bytes.len(), world.elapsed()) - world.elapsed();
        for _ in 0..1 + u32::from(link.duplicates(&world.chance)) {
            let (copy, delay) = (sent.clone(), busy + link.delay(&world.chance));
            world.after(delay, move |world| world.net.with(|state| state.datagram_arrives(world, &copy)));
        }
    }

    fn datagram_arrives(&mut self, world: &World, sent: &Sent) {
        if !self.topology.passes(sent.way) {
            return self.note_datagram(world, sent, ", lost");
        }
        let mut at = sent.to;
        if at.ip() == IpAddr::V4(Ipv4Addr::BROADCAST) {
            at.set_ip(address::of(sent.way.1, false));
        }
        let found = self.ports.at(sent.way.1, Protocol::Udp, at);
        let Some(receiver) = found.and_then(|socket| self.datagrams.get(&socket)) else {
            self.note_datagram(world, sent, ", refused");
            return self.refuse_datagram(world, sent);
        };
        let mut message = head(sent.from, false).to_vec();
        message.extend(&*sent.bytes);
        let is_taken = receiver.peer.is_none_or(|peer| peer == sent.from)
            && carrier::send(&receiver.end, &message).is_ok();
        self.note_datagram(world, sent, if is_taken { ", arrived" } else { ", dropped" });
    }

    /// Nobody receives there: a sender that is connected hears of it.
    fn refuse_datagram(&mut self, world: &World, sent: &Sent) {
        let back = (sent.way.1, sent.way.0);
        let (socket, to) = (sent.socket, sent.to);
        world.after(self.topology.link(back).delay(&world.chance), move |world| {
            world.net.with(|state| {
                let Some(sender) = state.datagrams.get(&socket) else { return };
                if state.topology.passes(back) && sender.peer == Some(to) {
                    // One that does not fit is lost.
                    let _ = carrier::send(&sender.end, &head(to, true));
                }
            });
        });
    }

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
