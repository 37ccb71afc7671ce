//! [`Listener`]: a listening socket, and the connections that wait to be accepted.
//!
//! # Invariant
//! `announced` of the connections in the queue, its first ones, have a byte each in the carrier. Who takes a byte takes a
//! connection: so the socket is readable while there is one, and each is accepted once.

use super::super::MachineId;
use super::State;
use super::bound::Bound;
use super::carrier::{self, key};
use super::names::At;
use super::ports::{Ports, Protocol, Use};
use super::{Net, World};
use rustix::io::Errno;
use rustix::net::SocketType;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

pub(super) struct Listener {
    machine: MachineId,
    at: SocketAddr,
    end: OwnedFd,
    /// The numbers of connections, their peers, and the program's ends.
    queue: VecDeque<(u64, SocketAddr, OwnedFd)>,
    announced: usize,
    most: usize,
}

impl Net {
    /// A listening socket of the running thread's machine.
    ///
    /// # Errors
    /// `EADDRNOTAVAIL`, `EADDRINUSE`; `ENETDOWN` on a machine that has crashed; the system's, for the carrier.
    pub(crate) fn listen(&self, world: &World, at: SocketAddr, most: usize) -> Result<OwnedFd, Errno> {
        self.with(|state| {
            state.attend(world);
            state.listen(world, world.machine(), most, |ports, number| {
                ports.bind(world.machine(), Protocol::Tcp, at, (number, Use::Receives))
            })
        })
    }

    /// As [`listen`](Self::listen), by a socket that is bound already.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn listen_where_bound(
        &self,
        world: &World,
        bound: &Bound,
        most: usize,
    ) -> Result<OwnedFd, Errno> {
        self.with(|state| {
            state.attend(world);
            state.listen(world, bound.machine, most, |ports, number| {
                ports.listen(bound.machine, bound.at, bound.socket, number).map(|()| bound.at)
            })
        })
    }

    /// The connection of which the program has taken the byte; `None` if the socket is none of the network's listeners.
    pub(crate) fn accept(&self, world: &World, listener: impl AsFd) -> Option<(OwnedFd, SocketAddr)> {
        self.with(|state| {
            let (number, _) = carrier::whose(state.carriers.known(listener)?.key);
            let listener = state.listeners.get_mut(&number)?;
            let (connection, peer, theirs) = listener.queue.pop_front()?;
            listener.announced -= 1;
            listener.announce();
            state.note(world, connection, 1, format_args!("accepted"));
            Some((theirs, peer))
        })
    }
}

impl Listener {
    fn announce(&mut self) {
        while self.announced < self.queue.len() && carrier::send(&self.end, &[0]).is_ok() {
            self.announced += 1;
        }
    }
}

impl State {
    fn listen(
        &mut self,
        world: &World,
        machine: MachineId,
        most: usize,
        bind: impl FnOnce(&mut Ports, u64) -> Result<SocketAddr, Errno>,
    ) -> Result<OwnedFd, Errno> {
        if !self.topology.is_up(machine) {
            return Err(Errno::NETDOWN);
        }
        let number = self.new_number();
        let at = bind(&mut self.ports, number)?;
        let made = self.carriers.make(key(number, 0), SocketType::STREAM, at, None);
        let release = |_: &Errno| self.ports.release(machine, Protocol::Tcp, at.port(), number);
        let (end, theirs) = made.inspect_err(release)?;
        let listener = Listener { machine, at, end, queue: VecDeque::new(), announced: 0, most };
        self.listeners.insert(number, listener);
        world.note(format_args!("{} listens", At(self.name(machine), at.port())));
        Ok(theirs)
    }

    /// The kernel has reported a change of the listener's carrier.
    pub(super) fn attend_listener(&mut self, world: &World, number: u64, is_closed: bool) {
        if is_closed {
            self.close_listener(world, number);
        } else if let Some(listener) = self.listeners.get_mut(&number) {
            listener.announce();
        }
    }

    /// Where a listener is bound.
    pub(super) fn listens_at(&self, listener: u64) -> Option<SocketAddr> {
        self.listeners.get(&listener).map(|listener| listener.at)
    }

    pub(super) fn has_room(&self, listener: u64) -> bool {
        self.listeners.get(&listener).is_some_and(|listener| listener.queue.len() < listener.most)
    }

    pub(super) fn queue_up(&mut self, listener: u64, connection: u64, peer: SocketAddr, theirs: OwnedFd) {
        if let Some(listener) = self.listeners.get_mut(&listener) {
            listener.queue.push_back((connection, peer, theirs));
            listener.announce();
        }
    }

    /// Forgets a listener; the connections in its queue are reset.
    fn close_listener(&mut self, world: &World, number: u64) {
        let Some(listener) = self.listeners.remove(&number) else { return };
        let Listener { machine, at, queue, .. } = listener;
        self.ports.release(machine, Protocol::Tcp, at.port(), number);
        world.note(format_args!("{} listens no more", At(self.name(machine), at.port())));
        for (connection, ..) in queue {
            self.abort(world, connection, 1);
        }
    }

    /// Forgets the listeners of a machine that has crashed.
    pub(super) fn lose_listeners(&mut self, machine: MachineId) {
        for (number, listener) in self.listeners.extract_if(.., |_, listener| listener.machine == machine) {
            self.ports.release(machine, Protocol::Tcp, listener.at.port(), number);
            self.topology.keep(machine, Some(listener.end));
        }
    }
}
