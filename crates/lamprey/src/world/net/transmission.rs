//! Datagrams under way: each is lost, or arrives once or twice, at a time of its own.

use super::super::MachineId;
use super::State;
use super::World;
use super::address;
use super::carrier;
use super::head::head;
use super::names::At;
use super::ports::Protocol;
use rustix::io::Errno;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;

/// The largest datagram (UDP over IPv4).
const MOST: usize = 65_507;

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
    /// Sends a datagram, to the socket's peer if `to` is `None`.
    pub(super) fn send_datagram(
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
        if to.port() == 0 {
            return Err(Errno::INVAL);
        }
        address::of_same_family(sender.at, to)?;
        to.set_ip(address::meant(to.ip()));
        let (own, mut from) = (sender.machine, sender.at);
        if from.ip().is_unspecified() {
            from.set_ip(address::facing(own, to.ip()));
        }
        if bytes.len() > MOST {
            return Err(Errno::MSGSIZE);
        }
        if address::is_broadcast(to.ip()) && !may_broadcast {
            return Err(Errno::ACCESS);
        }
        let reached = if to.ip() == IpAddr::V4(Ipv4Addr::BROADCAST) {
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
        let seen = |address| address::as_seen_from(receiver.at.ip(), address);
        let mut message = head(seen(sent.from), false).to_vec();
        message.extend(&*sent.bytes);
        let is_taken = receiver.peer.is_none_or(|peer| seen(peer) == seen(sent.from))
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
}
