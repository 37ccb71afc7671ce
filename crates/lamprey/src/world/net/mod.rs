//! The network of a simulation: what its machines send to each other, in this process's memory.
//!
//! A socket of a simulation is one end of a pair of Unix sockets, its **carrier**; the network holds the other end. The
//! program reads and writes its end as it would any socket, and the event loops watch it. The network takes the bytes out of
//! the one carrier, and puts them into the other when they arrive.
//!
//! # Invariants
//! 1. The network acts between two steps of the program ([`World::happen`]), and in calls that open sockets or ask about
//!    them; never while the program is in the middle of a system call on a carrier.
//! 2. The bytes of a connection are in one place at a time, in this order: the sender's carrier; the queue of its [`flow`];
//!    the receiver's backlog; the receiver's carrier.
//! 3. What the kernel reports is sorted by socket before the network acts on it, and no map is iterated but in the order of
//!    its keys: so all of it follows from the program's steps and from chance. Descriptors and inodes are in no line of the
//!    log.
//! 4. Nothing recurs by itself: an event on the agenda belongs to data under way, or to a fault that ends. So a program
//!    that waits for what never comes is still found out.

mod address;
mod arrival;
mod bound;
mod carrier;
mod connect;
mod connection;
mod control;
mod datagram;
mod faults;
mod flow;
mod head;
mod link;
mod listener;
mod machine;
mod names;
mod passage;
mod ports;
mod reset;
mod segment;
mod topology;
mod transmission;

pub use faults::Faults;
pub use link::Link;

#[cfg(not(loom))]
pub(crate) use bound::Bound;
#[cfg(not(loom))]
pub(crate) use carrier::Known;
#[cfg(not(loom))]
pub(crate) use head::{Head, sender};

use super::World;
use carrier::Carriers;
use connection::Connection;
use datagram::Datagrams;
use listener::Listener;
use ports::Ports;
use reset::Ended;
use std::cell::RefCell;
use std::collections::BTreeMap;
use topology::Topology;

/// The network of a world.
#[derive(Default)]
pub(crate) struct Net(RefCell<State>);

/// Everything in it.
#[derive(Default)]
struct State {
    carriers: Carriers,
    topology: Topology,
    ports: Ports,
    connections: BTreeMap<u64, Connection>,
    listeners: BTreeMap<u64, Listener>,
    datagrams: BTreeMap<u64, Datagrams>,
    /// How the network has ended sides of connections, by their [keys](carrier::key).
    ended: BTreeMap<u64, Ended>,
    /// The number of the last socket.
    last: u64,
}

impl Net {
    /// Nothing that the state's functions call comes back here.
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.0.borrow_mut())
    }

    /// Takes what the program has written, and fills up what it has read; true if there was anything.
    pub(super) fn attend(&self, world: &World) -> bool {
        self.with(|state| state.attend(world))
    }
}

impl State {
    fn new_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// See [`Net::attend`].
    fn attend(&mut self, world: &World) -> bool {
        let mut any = false;
        loop {
            let reports = self.carriers.reports();
            if reports.is_empty() {
                return any;
            }
            any = true;
            for report in reports {
                let (number, side) = carrier::whose(report.key);
                if self.connections.contains_key(&number) {
                    self.attend_connection(world, number, side, report.is_closed);
                } else if self.listeners.contains_key(&number) {
                    self.attend_listener(world, number, report.is_closed);
                } else if report.is_closed {
                    self.close_datagrams(world, number);
                }
            }
        }
    }
}
