//! Connecting: the request goes to the other machine, and is repeated until an answer comes or the time is over.

use super::State;
use super::address;
use super::bound::Bound;
use super::carrier::key;
use super::connection::{Connection, Life, Side};
use super::flow::Flow;
use super::ports::Protocol;
use super::segment::Payload;
use super::{Net, World};
use rustix::io::Errno;
use rustix::net::SocketType;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// After how long an unanswered request is repeated; each further one takes twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(1);

impl Net {
    /// A socket of the running thread's machine that connects to `to`, from the port of `bound`, if there is one. One byte can be read from it when the connection is
    /// made; its end, if that fails ([`take_error`](Net::take_error)).
    ///
    /// # Errors
    /// `ENETUNREACH` if no machine has the address; `ENETDOWN` on a machine that has crashed; `EADDRNOTAVAIL` if no port is
    /// left; the system's, for the carrier.
    pub(crate) fn connect(
        &self,
        world: &World,
        to: SocketAddr,
        bound: Option<&Bound>,
    ) -> Result<OwnedFd, Errno> {
        self.with(|state| {
            state.attend(world);
            state.connect(world, to, bound.map(|bound| bound.at.port()))
        })
    }
}

impl State {
    fn connect(&mut self, world: &World, mut to: SocketAddr, from: Option<u16>) -> Result<OwnedFd, Errno> {
        let own = world.machine();
        if !self.topology.is_up(own) {
            return Err(Errno::NETDOWN);
        }
        to.set_ip(address::meant(to.ip()));
        let machine = address::reached(to.ip(), own).ok_or(Errno::NETUNREACH)?;
        let port = match from {
            Some(port) => {
                self.ports.connect_from(own, port);
                port
            }
            None => self.ports.connect(own)?,
        };
        let at = SocketAddr::new(address::facing(own, to.ip()), port);
        let number = self.new_number();
        let made = self.carriers.make(key(number, 0), SocketType::STREAM, at, Some(to));
        let (ours, theirs) = made.inspect_err(|_| self.ports.disconnect(own, port))?;
        let sides =
            [Side::new(own, at, Life::Opening, Some(ours)), Side::new(machine, to, Life::Absent, None)];
        self.connections.insert(number, Connection { sides, flows: [Flow::default(), Flow::default()] });
        self.send_request(world, number, world.elapsed(), 0);
        Ok(theirs)
    }

    /// Sends the request for the `tries`-th time, and again, until it is answered.
    fn send_request(&mut self, world: &World, number: u64, since: Duration, tries: u32) {
        let Some(connection) = self.connections.get(&number) else { return };
        if connection.sides[0].life != Life::Opening {
            return;
        }
        let way = connection.way(0);
        let link = self.topology.link(way);
        let over = since + link.connect_timeout;
        let now = world.elapsed();
        if now >= over {
            return self.fail(world, number, 0, Errno::TIMEDOUT);
        }
        self.note(world, number, 0, format_args!("syn"));
        // What resets connections finds none yet.
        self.tempt(world, way);
        let is_lost = link.loses(&world.chance);
        let arrives = link.delay(&world.chance);
        let again = (now + FIRST_RETRY * (1 << tries.min(10))).min(over).max(now + arrives);
        world.after(arrives, move |world| {
            let is_answered = !is_lost && world.net.with(|state| state.request_arrives(world, number));
            // The answer may not arrive.
            let next = if is_answered { over } else { again };
            world.after(next.saturating_sub(world.elapsed()), move |world| {
                world.net.with(|state| state.send_request(world, number, since, tries + 1));
            });
        });
    }

    /// False if no answer is sent.
    fn request_arrives(&mut self, world: &World, number: u64) -> bool {
        let Some(connection) = self.connections.get(&number) else { return true };
        let (to, back) = (connection.way(0), connection.way(1));
        let (from, at) = (connection.sides[0].at, connection.sides[1].at);
        if !self.topology.passes(to) || !self.topology.passes(back) {
            self.note(world, number, 0, format_args!("syn lost"));
            return false;
        }
        let Some(listener) = self.ports.at(to.1, Protocol::Tcp, at) else {
            self.refuse(world, number);
            return true;
        };
        if !self.has_room(listener) {
            self.note(world, number, 0, format_args!("syn dropped: the listener's queue is full"));
            return false;
        }
        let bound = self.listens_at(listener).unwrap_or(at).ip();
        let seen = |address| address::as_seen_from(bound, address);
        // Out of descriptors: as if the request had been lost.
        let made = self.carriers.make(key(number, 1), SocketType::STREAM, seen(at), Some(seen(from)));
        let Ok((ours, theirs)) = made else { return false };
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.sides[1] = Side::new(to.1, at, Life::Open, Some(ours));
        }
        self.queue_up(listener, number, seen(from), theirs);
        self.push(world, number, 1, Payload::Open);
        true
    }

    /// Nobody listens: the answer takes the way back.
    fn refuse(&mut self, world: &World, number: u64) {
        self.note(world, number, 0, format_args!("refused"));
        let Some(connection) = self.connections.get(&number) else { return };
        let delay = self.topology.link(connection.way(1)).delay(&world.chance);
        world.after(delay, move |world| {
            world.net.with(|state| state.fail(world, number, 0, Errno::CONNREFUSED));
        });
    }
}
