//! [`Connection`]: a TCP connection, with the states of its two sides.
//!
//! # States of a side
//! `Absent` (the accepting side, until the request to connect arrives) or `Opening` (the connecting side, until it hears of
//! that), then `Open`. From there
//! * `Closed`: the program has closed its socket, and all that it had written has been taken out of the carrier; or the
//!   network has ended it, with an error for the program (in [`State::errors`]).
//! * `Gone`: its machine has crashed. No other side learns of that by itself.
//!
//! What the program sees of an end is what the kernel's TCP shows (`tests/sim/net/kernel.rs`): what had arrived before a reset is
//! read before its error, which comes once; after the other side's end a reset is `EPIPE`, for those who write. One thing is not
//! seen: whether who has shut down both directions has closed, too. With something unread it sends no second reset; and
//! whoever waits to write to it is refused at once, where the kernel lets them wait for that close.
//!
//! The network's end of the carrier is there in `Opening` and `Open`. A connection is forgotten when none of its sides has
//! one.

use super::super::MachineId;
use super::State;
use super::carrier;
use super::flow::Flow;
use super::names::At;
use super::segment::Payload;
use super::topology::Way;
use crate::world::World;
use rustix::io::Errno;
use rustix::net::Shutdown;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// The option that says what becomes of a connection when it is closed, and its value for no time at all.
const LINGER: &str = "linger";
const NO_TIME: u64 = 1;

/// A connection. Side 0 has connected; side 1 has accepted.
pub(super) struct Connection {
    pub(super) sides: [Side; 2],
    /// What each side sends.
    pub(super) flows: [Flow; 2],
}

pub(super) struct Side {
    pub(super) machine: MachineId,
    pub(super) at: SocketAddr,
    pub(super) life: Life,
    pub(super) end: Option<OwnedFd>,
    /// The kernel says that the program has closed its end, or shut it down in both directions.
    pub(super) is_hung_up: bool,
    /// The program has shut down reading: what comes stays in the backlog, for reads that find the end.
    pub(super) reads_no_more: bool,
    /// The program has shut down writing.
    pub(super) writes_no_more: bool,
    /// The other side's end has arrived. The errors of what comes then are for those who write.
    pub(super) is_done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Absent,
    Opening,
    Open,
    Closed,
    Gone,
}

impl Side {
    pub(super) fn new(machine: MachineId, at: SocketAddr, life: Life, end: Option<OwnedFd>) -> Self {
        Self {
            machine,
            at,
            life,
            end,
            is_hung_up: false,
            reads_no_more: false,
            writes_no_more: false,
            is_done: false,
        }
    }
}

impl Connection {
    /// The way from this side to the other.
    pub(super) fn way(&self, side: usize) -> Way {
        (self.sides[side].machine, self.sides[1 - side].machine)
    }
}

impl State {
    /// The kernel has reported a change of this side's carrier.
    pub(super) fn attend_connection(&mut self, world: &World, number: u64, side: usize, is_closed: bool) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        connection.sides[side].is_hung_up |= is_closed;
        match connection.sides[side].life {
            Life::Open => {
                self.drain(world, number, side);
                self.fill(world, number, 1 - side);
            }
            Life::Opening if is_closed => {
                let is_accepted = connection.sides[1].life != Life::Absent;
                self.end_side(number, side, Life::Closed);
                if is_accepted {
                    self.push(world, number, side, Payload::End);
                }
            }
            Life::Opening | Life::Absent | Life::Closed | Life::Gone => {}
        }
    }

    /// Notes that the program has closed this side, if it has and all is taken.
    pub(super) fn close_if_over(&mut self, world: &World, number: u64, side: usize) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let this = &connection.sides[side];
        if this.life != Life::Open || !this.is_hung_up || !connection.flows[side].has_ended {
            return;
        }
        let is_over = connection.sides.iter().all(|side| side.is_done);
        let backlog = &mut connection.flows[1 - side].backlog;
        // Of something unread in the carrier the kernel tells the network's end.
        let is_told =
            || this.end.as_ref().map(|end| carrier::receive(end, &mut [0])) == Some(Err(Errno::CONNRESET));
        let has_unread = !backlog.is_empty() || is_told();
        if this.reads_no_more && this.writes_no_more {
            // It may have its socket still, and read what has come.
            let late = std::mem::take(backlog);
            connection.flows[1 - side].outstanding -= late.len();
            self.keep_late(number, side, late);
        } else if !is_over && (has_unread || self.is_abrupt(number, side)) {
            self.send_reset(world, number, side);
        }
        self.end_side(number, side, Life::Closed);
    }

    /// The side has no socket any more. Forgets the connection if the other side has none either.
    pub(super) fn end_side(&mut self, number: u64, side: usize, life: Life) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        connection.sides[side].life = life;
        let end = connection.sides[side].end.take();
        if life == Life::Gone {
            self.topology.keep(connection.sides[side].machine, end);
        }
        let lost = &mut connection.flows[1 - side];
        lost.outstanding -= lost.backlog.len();
        lost.backlog.clear();
        let is_over = connection.sides.iter().all(|side| side.end.is_none());
        let (machine, port) = (connection.sides[0].machine, connection.sides[0].at.port());
        if is_over {
            self.connections.remove(&number);
            [0, 1].into_iter().for_each(|side| self.carriers.disconnect(carrier::key(number, side)));
            self.ports.disconnect(machine, port);
        }
    }

    /// True if a close of this side is to be a reset (`SO_LINGER` with no time).
    pub(super) fn is_abrupt(&self, number: u64, side: usize) -> bool {
        self.carriers.option(carrier::key(number, side), LINGER) == Some(NO_TIME)
    }

    /// The network ends an open side: the program's next call there fails with `error`, after it has read what has come.
    pub(super) fn fail(&mut self, world: &World, number: u64, side: usize, error: Errno) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let is_done = connection.sides[side].is_done;
        if !matches!(connection.sides[side].life, Life::Opening | Life::Open) {
            return;
        }
        connection.flows[side].queue.clear();
        if let Some(end) = &connection.sides[side].end {
            carrier::shut(end, Shutdown::Both);
            // What is unread there would be an error of its own, by the kernel.
            while carrier::receive(end, &mut [0; 4096]).is_ok_and(|count| count != 0) {}
        }
        let flow = &mut connection.flows[1 - side];
        flow.outstanding -= flow.backlog.len();
        let late = std::mem::take(&mut flow.backlog);
        self.note(world, number, side, format_args!("fails: {error}"));
        self.end_with(number, side, error, is_done, late);
        self.end_side(number, side, Life::Closed);
    }

    /// A line in the log on what happens to a side.
    pub(super) fn note(&self, world: &World, number: u64, side: usize, what: std::fmt::Arguments<'_>) {
        let Some(connection) = self.connections.get(&number) else { return };
        let [one, other] = [side, 1 - side].map(|side| {
            let side = &connection.sides[side];
            At(self.name(side.machine), side.at.port())
        });
        world.note(format_args!("{one} > {other}: {what}"));
    }
}
