//! Machines in words: their names, and addresses in lines of the log.

use super::super::MachineId;
use super::{Net, State, address};
use crate::world::World;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// `name:port`.
pub(super) struct At<'a>(pub(super) &'a str, pub(super) u16);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0, self.1)
    }
}

impl State {
    pub(super) fn name(&self, machine: MachineId) -> &str {
        self.topology.machines.get(machine.0 as usize).map_or("nowhere", |machine| &machine.name)
    }
}

impl Net {
    /// The addresses of the machine with this name, and of `localhost`; `None` if there is no such machine.
    pub(crate) fn look_up(&self, world: &World, host: &str, port: u16) -> Option<SocketAddr> {
        if host == "localhost" {
            return Some(SocketAddr::from(([127, 0, 0, 1], port)));
        }
        self.with(|state| {
            let found = state.topology.machines.iter().position(|machine| &*machine.name == host);
            world.note(format_args!("{} looks up {host}", state.name(world.machine())));
            found.map(|machine| SocketAddr::new(address::of(MachineId(machine as u32), false), port))
        })
    }

    /// The address of a machine.
    pub(crate) fn address(machine: MachineId) -> IpAddr {
        address::of(machine, false)
    }
}
