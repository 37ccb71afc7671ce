//! Ports: who is bound to which, and which is free.

use super::super::MachineId;
use super::address;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The first of the ports that are given out.
const FIRST: u16 = 49152;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Protocol {
    Tcp,
    Udp,
}

/// What a socket does with the address that it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It receives what comes there, alone.
    Receives,
    /// Nothing so far: it is bound, and may listen or connect later. With `SO_REUSEADDR` others may be bound there, too, and one of
    /// them may listen.
    Waits { shares: bool },
}

impl Use {
    /// Whether both may be at one address.
    fn goes_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Waits { shares }, Self::Waits { shares: others }) => shares && others,
            // A listener shares.
            (Self::Receives, Self::Waits { shares }) => shares,
            (_, Self::Receives) => false,
        }
    }
}

/// A socket that is bound.
struct Bound {
    ip: IpAddr,
    socket: u64,
    does: Use,
}

/// The ports of all machines.
#[derive(Default)]
pub(super) struct Ports {
    /// The sockets that are bound to a port.
    bound: BTreeMap<(MachineId, Protocol, u16), Vec<Bound>>,
    /// How many connections have been made from a port and live.
    connected: BTreeMap<(MachineId, u16), u32>,
    /// The port to try next, less `FIRST`.
    next: BTreeMap<(MachineId, Protocol), u16>,
}

impl Bound {
    fn overlaps(&self, ip: IpAddr) -> bool {
        address::covers(ip, self.ip) || address::covers(self.ip, ip)
    }
}

impl Ports {
    /// Binds a socket to an address of its machine, of which port 0 stands for any; the address it has then.
    ///
    /// # Errors
    /// `EADDRNOTAVAIL` for an address of another machine, and if no port is left; `EADDRINUSE`.
    pub(super) fn bind(
        &mut self,
        machine: MachineId,
        protocol: Protocol,
        mut at: SocketAddr,
        (socket, does): (u64, Use),
    ) -> Result<SocketAddr, Errno> {
        if address::reached(at.ip(), machine) != Some(machine) {
            return Err(Errno::ADDRNOTAVAIL);
        }
        if at.port() == 0 {
            at.set_port(self.free(machine, protocol)?);
        }
        let there = self.bound.entry((machine, protocol, at.port())).or_default();
        if there.iter().any(|other| other.overlaps(at.ip()) && !does.goes_with(other.does)) {
            return Err(Errno::ADDRINUSE);
        }
        there.push(Bound { ip: at.ip(), socket, does });
        Ok(at)
    }

    /// A socket that has waited receives from now on, as `listener`.
    ///
    /// # Errors
    /// `EADDRINUSE` if another one does.
    pub(super) fn listen(
        &mut self,
        machine: MachineId,
        at: SocketAddr,
        socket: u64,
        listener: u64,
    ) -> Result<(), Errno> {
        let there = self.bound.entry((machine, Protocol::Tcp, at.port())).or_default();
        if there.iter().any(|other| other.overlaps(at.ip()) && other.does == Use::Receives) {
            return Err(Errno::ADDRINUSE);
        }
        // It is gone if the machine has crashed meanwhile.
        let own = there.iter_mut().find(|bound| bound.socket == socket).ok_or(Errno::NETDOWN)?;
        *own = Bound { ip: at.ip(), socket: listener, does: Use::Receives };
        Ok(())
    }

    /// Forgets the sockets of a machine that has crashed, which were only bound.
    pub(super) fn forget_waiting(&mut self, machine: MachineId) {
        for (_, sockets) in self.bound.iter_mut().filter(|((at, ..), _)| *at == machine) {
            sockets.retain(|bound| bound.does == Use::Receives);
        }
    }

    /// A free port for a connection from this machine, until [`disconnect`](Self::disconnect).
    pub(super) fn connect(&mut self, machine: MachineId) -> Result<u16, Errno> {
        let port = self.free(machine, Protocol::Tcp)?;
        self.connect_from(machine, port);
        Ok(port)
    }

    /// As [`connect`](Self::connect), from a port that a socket is bound to.
    pub(super) fn connect_from(&mut self, machine: MachineId, port: u16) {
        *self.connected.entry((machine, port)).or_default() += 1;
    }

    fn free(&mut self, machine: MachineId, protocol: Protocol) -> Result<u16, Errno> {
        let next = self.next.entry((machine, protocol)).or_default();
        for _ in FIRST..=u16::MAX {
            let port = FIRST + *next;
            *next = (*next + 1) % (u16::MAX - FIRST + 1);
            let is_bound =
                self.bound.get(&(machine, protocol, port)).is_some_and(|sockets| !sockets.is_empty());
            let is_connected = protocol == Protocol::Tcp && self.connected.contains_key(&(machine, port));
            if !is_bound && !is_connected {
                return Ok(port);
            }
        }
        Err(Errno::ADDRNOTAVAIL)
    }

    pub(super) fn disconnect(&mut self, machine: MachineId, port: u16) {
        if let Some(count) = self.connected.get_mut(&(machine, port)) {
            *count -= 1;
            if *count == 0 {
                self.connected.remove(&(machine, port));
            }
        }
    }

    /// The socket of `machine` that is reached at this address.
    pub(super) fn at(&self, machine: MachineId, protocol: Protocol, at: SocketAddr) -> Option<u64> {
        let sockets = self.bound.get(&(machine, protocol, at.port()))?;
        let reached = |bound: &&Bound| bound.does == Use::Receives && address::covers(bound.ip, at.ip());
        sockets.iter().find(reached).map(|bound| bound.socket)
    }

    pub(super) fn release(&mut self, machine: MachineId, protocol: Protocol, port: u16, socket: u64) {
        if let Some(sockets) = self.bound.get_mut(&(machine, protocol, port)) {
            sockets.retain(|bound| bound.socket != socket);
        }
    }
}
