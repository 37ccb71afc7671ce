//! [`Bound`]: what the network knows of a TCP socket that is bound, and neither listens nor is connected.
//!
//! Such a socket has no carrier: it is the kernel's, which does nothing. So whoever drops it has to say so.

use super::super::MachineId;
use super::names::At;
use super::ports::{Protocol, Use};
use super::{Net, World};
use rustix::io::Errno;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// The numbers of such sockets, which are the kernel's, begin here: behind those of all others.
const FIRST: u64 = 1 << 63;

/// Where a socket is bound.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(super) machine: MachineId,
    pub(super) at: SocketAddr,
    /// No socket has the same, in no simulation, as long as this one is open.
    pub(super) socket: u64,
}

impl Bound {
    pub(crate) fn address(&self) -> SocketAddr {
        self.at
    }
}

impl Net {
    /// Binds a socket of the kernel's to an address of the running thread's machine, which it has until [`unbind`](Self::unbind).
    /// `shares`: others may be bound there that share, too.
    ///
    /// # Errors
    /// The same as those of [`listen`](Net::listen).
    pub(crate) fn bind(
        &self,
        world: &World,
        socket: impl AsFd,
        at: SocketAddr,
        shares: bool,
    ) -> Result<Bound, Errno> {
        let socket = FIRST | rustix::fs::fstat(socket)?.st_ino;
        self.with(|state| {
            state.attend(world);
            let machine = world.machine();
            if !state.topology.is_up(machine) {
                return Err(Errno::NETDOWN);
            }
            let at = state.ports.bind(machine, Protocol::Tcp, at, (socket, Use::Waits { shares }))?;
            world.note(format_args!("{} is bound", At(state.name(machine), at.port())));
            Ok(Bound { machine, at, socket })
        })
    }

    /// The socket is closed, or listens or connects now.
    pub(crate) fn unbind(&self, bound: &Bound) {
        self.with(|state| state.ports.release(bound.machine, Protocol::Tcp, bound.at.port(), bound.socket));
    }
}
