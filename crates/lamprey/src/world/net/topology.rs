//! Which machines there are, which of them reach each other, and how well.

use super::super::MachineId;
use super::State;
use super::faults::Faults;
use super::link::Link;
use crate::world::World;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// From one machine to another.
pub(super) type Way = (MachineId, MachineId);

/// The machines and the ways between them.
#[derive(Default)]
pub(super) struct Topology {
    /// By their number.
    pub(super) machines: Vec<Named>,
    pub(super) every_link: Link,
    pub(super) links: BTreeMap<Way, Link>,
    /// Partitions that the program has made.
    pub(super) blocked: BTreeSet<Way>,
    /// Those made by chance, with how many are on top of each other.
    by_chance: BTreeMap<Way, u32>,
    pub(super) faults: Faults,
    /// Until when a way is busy with what has been sent.
    busy: BTreeMap<Way, Duration>,
}

pub(super) struct Named {
    pub(super) name: Box<str>,
    pub(super) is_up: bool,
    /// The network's ends of the sockets that it had when it crashed: its threads, which are ending, see no change.
    pub(super) ends: Vec<OwnedFd>,
}

impl Topology {
    pub(super) fn is_up(&self, machine: MachineId) -> bool {
        self.machines.get(machine.0 as usize).is_some_and(|machine| machine.is_up)
    }

    /// Keeps an end of a machine that has crashed until it starts again.
    pub(super) fn keep(&mut self, machine: MachineId, end: Option<OwnedFd>) {
        if let Some(machine) = self.machines.get_mut(machine.0 as usize) {
            machine.ends.extend(end);
        }
    }

    /// True if what is sent this way now arrives.
    pub(super) fn passes(&self, way: Way) -> bool {
        self.is_up(way.1) && !self.blocked.contains(&way) && !self.by_chance.contains_key(&way)
    }

    pub(super) fn link(&self, way: Way) -> Link {
        if way.0 == way.1 {
            return Link::to_itself();
        }
        self.links.get(&way).unwrap_or(&self.every_link).worsened(&self.faults.link)
    }

    /// Occupies a way with so many bytes from `now` on; the time at which they are all on it.
    pub(super) fn occupy(&mut self, way: Way, bytes: usize, now: Duration) -> Duration {
        let takes = self.link(way).takes(bytes);
        if takes.is_zero() {
            return now;
        }
        let until = self.busy.entry(way).or_default();
        *until = now.max(*until) + takes;
        *until
    }

    pub(super) fn heal(&mut self) {
        self.blocked.clear();
        self.by_chance.clear();
    }
}

impl State {
    /// Something is sent: perhaps its way fails. True if its connection is to be reset.
    pub(super) fn tempt(&mut self, world: &World, way: Way) -> bool {
        let faults = self.topology.faults;
        if way.0 == way.1 {
            return false;
        }
        if world.chance.happens(faults.partitions) {
            let back = (way.1, way.0);
            let ways = if world.chance.below(2) == 0 { vec![way] } else { vec![way, back] };
            let heals = world.chance.between(Duration::from_millis(1), faults.heals_within);
            for way in &ways {
                *self.topology.by_chance.entry(*way).or_default() += 1;
                world.note(format_args!("{} loses its way to {}", self.name(way.0), self.name(way.1)));
            }
            world.after(heals, move |world| world.net.with(|state| state.find_again(world, &ways)));
        }
        world.chance.happens(faults.resets)
    }

    fn find_again(&mut self, world: &World, ways: &[Way]) {
        for way in ways {
            // None if all has been healed meanwhile.
            let Some(count) = self.topology.by_chance.get_mut(way) else { continue };
            *count -= 1;
            if *count == 0 {
                self.topology.by_chance.remove(way);
                world.note(format_args!("{} finds its way to {}", self.name(way.0), self.name(way.1)));
            }
        }
    }
}
