//! [`Network`]: the network between the machines of a simulation, as a test controls it.

use super::machine::Machine;
use crate::world::net::{Faults, Link, Net};
use crate::world::{self, World};
use std::net::IpAddr;

/// The network of the simulation in which the caller runs.
///
/// # Panics
/// Outside of a simulation.
pub fn network() -> Network {
    assert!(
        world::is_simulated(),
        "`sim::network` was called outside of a simulation (Runtime::simulated, sim::explore)"
    );
    Network(())
}

/// The network between the machines of a simulation: how fast and how reliable it is, and who reaches whom.
///
/// The sockets of [`net`](crate::net), but the Unix ones, use it: all that runs on a simulated machine connects, listens,
/// sends and receives there. A machine has the [address](Machine::address) 10.0.0.1, 10.0.0.2 and so on, in the order in
/// which they were made; its name resolves to it, and `localhost` and 127.0.0.1 to the machine itself. (IPv6: fd00::1 and so on,
/// ::1.) Ports from 49152 on are given out in order. Multicast is not supported, and a socket that leaves Lamprey's types
/// (`into_std`, `into_raw_fd`) is only a stream of bytes: the kernel takes it for a Unix socket.
///
/// A connection ends in all ways in which a real one can: closed or shut down in one direction; reset, because its peer has
/// closed it without reading everything, by [`reset`](Self::reset), or by [`Faults`]; or not at all, because the other
/// machine has [crashed](Machine::crash) or cannot be reached. Who sends on such a connection finds out after the link's
/// [`send_timeout`](Link::send_timeout), or when the machine answers that it has started again; who only reads waits for
/// ever.
///
/// All functions panic outside of a simulation, where no value of this type comes from, and take effect at once.
///
/// # Examples
/// ```
/// use lamprey::net::{TcpListener, TcpStream};
/// use lamprey::sim::{self, Machine};
/// use lamprey::{Runtime, channel};
/// use std::io::{ErrorKind, Read, Write};
///
/// let (_, log) = Runtime::simulated(7).run_logged(|| {
///     let server = Machine::new("server");
///     let (ready, is_ready) = channel();
///     server.spawn(move || {
///         let listener = TcpListener::bind("0.0.0.0:80").unwrap();
///         ready.send(()).unwrap();
///         for stream in listener.incoming() {
///             stream.unwrap().write_all(b"hello").unwrap();
///         }
///     });
///     is_ready.recv().unwrap();
///     let mut text = String::new();
///     TcpStream::connect("server:80").unwrap().read_to_string(&mut text).unwrap();
///     assert_eq!(text, "hello");
///
///     sim::network().partition(&[&Machine::here()], &[&server]);
///     let refused = TcpStream::connect("server:80").unwrap_err(); // 20 seconds later, of the simulation
///     assert_eq!(refused.kind(), ErrorKind::TimedOut);
/// });
/// assert!(log.contains("server:80 > main:49152: 5 bytes, arrived"), "{log}");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Network(());

impl Network {
    /// All links between different machines are like this one from now on.
    pub fn set_links(&self, link: Link) {
        with(|world| world.net.set_every_link(link));
    }

    /// The link from one machine to another, in this direction only. (A window counts at the sender, a timeout too.)
    pub fn set_link(&self, from: &Machine, to: &Machine, link: Link) {
        with(|world| world.net.set_link(from.id, to.id, link));
    }

    /// The link between two machines, in both directions.
    pub fn set_link_both(&self, one: &Machine, other: &Machine, link: Link) {
        self.set_link(one, other, link);
        self.set_link(other, one, link);
    }

    /// Faults by chance, from now on, on all links between different machines. A link has what is worse, of its own and of
    /// these.
    pub fn set_faults(&self, faults: Faults) {
        with(|world| world.net.set_faults(faults));
    }

    /// Nothing passes between a machine of the one group and one of the other, until they [heal](Self::heal). What is under
    /// way arrives if it is sent again after that.
    pub fn partition(&self, some: &[&Machine], others: &[&Machine]) {
        self.partition_one_way(some, others);
        self.partition_one_way(others, some);
    }

    /// Nothing passes from the first machines to the second ones, until they [heal](Self::heal).
    pub fn partition_one_way(&self, from: &[&Machine], to: &[&Machine]) {
        with(|world| {
            let ways = from.iter().flat_map(|from| to.iter().map(move |to| (from, to)));
            ways.for_each(|(from, to)| world.net.block(world, from.id, to.id));
        });
    }

    /// Ends all partitions, also those by chance.
    pub fn heal(&self) {
        with(|world| world.net.heal(world));
    }

    /// Resets all connections between two machines, which may be the same one: both sides fail with
    /// [`ConnectionReset`](std::io::ErrorKind::ConnectionReset).
    pub fn reset(&self, one: &Machine, other: &Machine) {
        with(|world| world.net.reset(world, one.id, other.id));
    }
}

impl Machine {
    /// Its address in the simulated [`Network`].
    pub fn address(&self) -> IpAddr {
        Net::address(self.id)
    }
}

fn with(f: impl FnOnce(&World)) {
    world::with(f).unwrap_or_else(|| panic!("the network of a simulation was used outside of it"));
}
