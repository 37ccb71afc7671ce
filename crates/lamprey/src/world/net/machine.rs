//! Machines that start and crash, as the network sees it.

use super::super::MachineId;
use super::carrier::Known;
use super::connection::Life;
use super::topology::Named;
use super::{Net, World};
use rustix::io::Errno;
use rustix::net::Shutdown;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

impl Net {
    /// The machine is on the network from now on, with all ports free. Machines are numbered in the order in which they
    /// first start.
    pub(crate) fn start(&self, machine: MachineId, name: &str) {
        self.with(|state| match state.topology.machines.get_mut(machine.0 as usize) {
            Some(known) => {
                known.is_up = true;
                known.ends.clear();
            }
            None => state.topology.machines.push(Named { name: name.into(), is_up: true, ends: Vec::new() }),
        });
    }

    /// Nothing that the machine's threads do reaches others any more, and its sockets are gone; the other sides of its
    /// connections do not learn of it.
    pub(crate) fn crash(&self, world: &World, machine: MachineId) {
        self.with(|state| {
            if let Some(known) = state.topology.machines.get_mut(machine.0 as usize) {
                known.is_up = false;
            }
            state.ports.forget_waiting(machine);
            state.lose_listeners(machine);
            state.lose_datagrams(machine);
            let numbers: Vec<u64> = state.connections.keys().copied().collect();
            for (number, side) in numbers.into_iter().flat_map(|number| [(number, 0), (number, 1)]) {
                let connection = state.connections.get(&number);
                if connection.is_some_and(|connection| connection.sides[side].machine == machine) {
                    state.end_side(number, side, Life::Gone);
                    // Whoever waited for it to read goes on, in vain.
                    state.drain(world, number, 1 - side);
                }
            }
        });
    }

    /// The error with which the network has ended this socket; the caller reports it, and it is not given again.
    pub(crate) fn take_error(&self, socket: impl AsFd) -> Option<Errno> {
        self.with(|state| state.take_error(socket))
    }

    /// What a read is given that has found the end of the program's socket: bytes, an error, or 0.
    pub(crate) fn read_at_end(
        &self,
        world: &World,
        socket: impl AsFd,
        room: &mut [MaybeUninit<u8>],
        peeks: bool,
    ) -> Result<usize, Errno> {
        self.with(|state| state.read_at_end(world, socket, room, peeks))
    }

    /// Before the program shuts down its socket.
    ///
    /// # Errors
    /// `ENOTCONN` if it is not connected any more.
    pub(crate) fn shut_down(&self, world: &World, socket: impl AsFd, how: Shutdown) -> Result<(), Errno> {
        self.with(|state| state.shut_down(world, socket, how))
    }

    /// Runs `f` with what is known of the program's socket; `None` if it is none of the network's.
    pub(crate) fn known<R>(&self, socket: impl AsFd, f: impl FnOnce(&mut Known) -> R) -> Option<R> {
        self.with(|state| state.carriers.known(socket).map(f))
    }
}
