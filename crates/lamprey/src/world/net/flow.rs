//! [`Flow`]: one direction of a connection, from the one carrier to the other.
//!
//! # Invariants
//! 1. `outstanding` is the number of bytes in `queue` and `backlog`; no more are taken out of the sender's carrier while it is
//!    the window or more, unless its program writes no more. So whoever does not read blocks whoever writes.
//! 2. Segments are delivered in the order of the queue, whatever their times: a stream reorders nothing.
//! 3. Each segment in the queue has an event on the agenda at its time, or one before it in the queue has.

use super::State;
use super::carrier;
use super::connection::Life;
use super::passage::retry_after;
use super::segment::{Payload, Segment};
use crate::world::World;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::time::Duration;

/// The largest piece that is taken at once.
const SEGMENT: usize = 8 << 10;

#[derive(Default)]
pub(super) struct Flow {
    pub(super) queue: VecDeque<Segment>,
    /// What has arrived, and did not fit into the receiver's carrier.
    pub(super) backlog: VecDeque<u8>,
    pub(super) outstanding: usize,
    /// When the last segment arrives that was sent.
    pub(super) last: Duration,
    /// The sender has shut down this direction, and all that it had written has been taken.
    pub(super) has_ended: bool,
    /// The sender's end has arrived, and the receiver is still to be told, once it has everything.
    pub(super) is_at_end: bool,
    /// The rest of a piece that was delivered in parts comes later.
    pub(super) is_paused: bool,
    /// Since when the first segment has been sent in vain, and how often.
    pub(super) failing: Option<(Duration, u32)>,
}

impl State {
    /// Takes what this side has written, as far as the window allows.
    pub(super) fn drain(&mut self, world: &World, number: u64, side: usize) {
        let mut room = [0; SEGMENT];
        while let Some(connection) = self.connections.get_mut(&number) {
            let (way, flow) = (connection.way(side), &mut connection.flows[side]);
            let this = &connection.sides[side];
            let Some(end) = this.end.as_ref().filter(|_| this.life == Life::Open && !flow.has_ended) else {
                break;
            };
            let link = self.topology.link(way);
            // What is left in the carrier of who writes no more is all that comes. It is taken beyond the window, as the end behind it
            // must be seen: whoever still waits to write is told, and a reset waits for no window.
            let is_last = this.writes_no_more || this.is_hung_up;
            let room_left = if is_last { SEGMENT } else { link.window.saturating_sub(flow.outstanding) };
            let most = room_left.min(SEGMENT);
            if most == 0 {
                break;
            }
            match carrier::receive(end, &mut room[..most]) {
                Ok(0) => {
                    flow.has_ended = true;
                    // The kernel may not have reported it yet.
                    let is_hung_up = this.is_hung_up || carrier::is_hung_up(end);
                    let this = &mut connection.sides[side];
                    this.is_hung_up = is_hung_up;
                    let is_closed = this.is_hung_up && !(this.reads_no_more && this.writes_no_more);
                    let has_unread = !connection.flows[1 - side].backlog.is_empty();
                    if is_closed && (has_unread || self.is_abrupt(number, side)) {
                        return self.abort(world, number, side);
                    }
                    self.push(world, number, side, Payload::End);
                }
                Ok(count) => {
                    let mut rest = &room[..count];
                    while !rest.is_empty() {
                        let (piece, more) = rest.split_at(link.piece(&world.chance, rest.len()));
                        self.push(world, number, side, Payload::Bytes(piece.into()));
                        rest = more;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // The program has closed its socket with something unread in it.
                Err(_) => return self.abort(world, number, side),
            }
        }
        self.close_if_over(world, number, side);
    }

    /// Sends a segment.
    pub(super) fn push(&mut self, world: &World, number: u64, side: usize, payload: Payload) {
        self.note(world, number, side, format_args!("{payload}"));
        let Some(connection) = self.connections.get(&number) else { return };
        let way = connection.way(side);
        if payload.len() != 0 && self.tempt(world, way) {
            return self.cut(world, number);
        }
        let (link, now) = (self.topology.link(way), world.elapsed());
        let losses = link.losses(&world.chance);
        if losses != 0 {
            self.note(world, number, side, format_args!("{payload}, lost {losses} times"));
        }
        let delay = (0..losses).map(retry_after).sum::<Duration>() + link.delay(&world.chance);
        let sent = self.topology.occupy(way, payload.len(), now);
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let flow = &mut connection.flows[side];
        flow.last = flow.last.max(sent + delay);
        flow.outstanding += payload.len();
        let arrives = flow.last;
        flow.queue.push_back(Segment { arrives, payload: Some(payload) });
        self.call_at(world, number, side, arrives);
    }

    /// Has what is due of a flow arrive at this time.
    pub(super) fn call_at(&self, world: &World, number: u64, side: usize, at: Duration) {
        let delay = at.saturating_sub(world.elapsed());
        world.after(delay, move |world| world.net.with(|state| while state.arrive(world, number, side) {}));
    }
}
