//! What a test sets: links, partitions, resets, faults.

use super::super::MachineId;
use super::{Faults, Link, Net, World};

impl Net {
    pub(crate) fn set_every_link(&self, link: Link) {
        self.with(|state| {
            state.topology.every_link = link;
            state.topology.links.clear();
        });
    }

    pub(crate) fn set_link(&self, from: MachineId, to: MachineId, link: Link) {
        self.with(|state| _ = state.topology.links.insert((from, to), link));
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.with(|state| state.topology.faults = faults);
    }

    /// Nothing passes from one machine to the other, until [`heal`](Self::heal).
    pub(crate) fn block(&self, world: &World, from: MachineId, to: MachineId) {
        self.with(|state| {
            if from != to && state.topology.blocked.insert((from, to)) {
                world.note(format_args!("nothing passes from {} to {}", state.name(from), state.name(to)));
            }
        });
    }

    pub(crate) fn heal(&self, world: &World) {
        world.note(format_args!("the network heals"));
        self.with(|state| state.topology.heal());
    }

    /// Resets all connections between two machines.
    pub(crate) fn reset(&self, world: &World, one: MachineId, other: MachineId) {
        self.with(|state| {
            let between =
                |machines: (MachineId, MachineId)| machines == (one, other) || machines == (other, one);
            let numbers: Vec<u64> = state
                .connections
                .iter()
                .filter(|(_, connection)| between(connection.way(0)))
                .map(|(number, _)| *number)
                .collect();
            numbers.into_iter().for_each(|number| state.cut(world, number));
        });
    }
}
