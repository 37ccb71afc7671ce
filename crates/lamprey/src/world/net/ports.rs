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

/// The ports of all machines.
#[derive(Default)]
pub(super) struct Ports {
    /// The listeners and datagram sockets at a port, with the address that each is bound to.
    bound: BTreeMap<(MachineId, Protocol, u16), Vec<(IpAddr, u64)>>,
    /// How many connections have been made from a port and live.
    connected: BTreeMap<(MachineId, u16), u32>,
    /// The port to try next, less `FIRST`.
    next: BTreeMap<(MachineId, Protocol), u16>,
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
        socket: u64,
    ) -> Result<SocketAddr, Errno> {
        if address::reached(at.ip(), machine) != Some(machine) {
            return Err(Errno::ADDRNOTAVAIL);
        }
        if at.port() == 0 {
            at.set_port(self.free(machine, protocol)?);
        }
        let there = self.bound.entry((machine, protocol, at.port())).or_default();
        let overlaps = |ip: IpAddr| address::covers(ip, at.ip()) || address::covers(at.ip(), ip);
        if there.iter().any(|(ip, _)| overlaps(*ip)) {
            return Err(Errno::ADDRINUSE);
        }
        there.push((at.ip(), socket));
        Ok(at)
    }

    /// A free port for a connection from this machine, until [`disconnect`](Self::disconnect).
    pub(super) fn connect(&mut self, machine: MachineId) -> Result<u16, Errno> {
        let port = self.free(machine, Protocol::Tcp)?;
        *self.connected.entry((machine, port)).or_default() += 1;
        Ok(port)
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
        sockets.iter().find(|(bound, _)| address::covers(*bound, at.ip())).map(|(_, socket)| *socket)
    }

    pub(super) fn release(&mut self, machine: MachineId, protocol: Protocol, port: u16, socket: u64) {
        if let Some(sockets) = self.bound.get_mut(&(machine, protocol, port)) {
            sockets.retain(|(_, bound)| *bound != socket);
        }
    }
}
