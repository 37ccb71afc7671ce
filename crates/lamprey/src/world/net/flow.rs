//! [`Flow`]: one direction of a connection, from the one carrier to the other.
//!
//! # Invariants
//! 1. `outstanding` is the number of bytes in `queue` and `backlog`; no more are taken out of the sender's carrier while it is
//!    the window or more. So whoever does not read blocks whoever writes.
//! 2. Segments are delivered in the order of the queue, whatever their times: a stream reorders nothing.
//! 3. Each segment in the queue has an event on the agenda at its time, or one before it in the queue has.

use super::State;
use super::carrier;
use super::connection::Life;
use super::link::retry_after;
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
    is_paused: bool,
    /// Since when the first segment has been sent in vain, and how often.
    failing: Option<(Duration, u32)>,
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
            let most = link.window.saturating_sub(flow.outstanding).min(SEGMENT);
            if most == 0 {
                break;
            }
            match carrier::receive(end, &mut room[..most]) {
                Ok(0) => {
                    flow.has_ended = true;
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

    fn call_at(&self, world: &World, number: u64, side: usize, at: Duration) {
        let delay = at.saturating_sub(world.elapsed());
        world.after(delay, move |world| world.net.with(|state| while state.arrive(world, number, side) {}));
    }

    /// Delivers the next segment, if it is due; true if there may be more.
    fn arrive(&mut self, world: &World, number: u64, side: usize) -> bool {
        let Some(connection) = self.connections.get_mut(&number) else { return false };
        let (to, back) = (connection.way(side), connection.way(1 - side));
        let life = connection.sides[1 - side].life;
        let flow = &mut connection.flows[side];
        let Some(head) = flow.queue.front_mut().filter(|head| head.arrives <= world.elapsed()) else {
            return false;
        };
        if !self.topology.passes(to) {
            return self.again(world, number, side);
        }
        let is_end = matches!(head.payload, Some(Payload::End));
        if !matches!(life, Life::Open | Life::Opening) && !is_end {
            flow.queue.clear();
            self.send_reset(world, number, 1 - side);
            return false;
        }
        if let Some(payload) = head.payload.take() {
            self.deliver(world, number, side, payload);
        }
        if !self.topology.passes(back) {
            return self.again(world, number, side);
        }
        // It may have ended in the meantime.
        let Some(connection) = self.connections.get_mut(&number) else { return false };
        connection.flows[side].failing = None;
        connection.flows[side].queue.pop_front().is_some()
    }

    fn deliver(&mut self, world: &World, number: u64, side: usize, payload: Payload) {
        self.note(world, number, side, format_args!("{payload}, arrived"));
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let (receiver, flow) = (&mut connection.sides[1 - side], &mut connection.flows[side]);
        match payload {
            Payload::Open => {
                receiver.life = Life::Open;
                // Fits: nothing else is in the carrier.
                let _ = receiver.end.as_ref().map(|end| carrier::send(end, &[0]));
            }
            Payload::Bytes(bytes) => flow.backlog.extend(&*bytes),
            Payload::End => flow.is_at_end = true,
        }
        self.fill(world, number, side);
    }

    /// Puts what has arrived into the receiver's carrier, as far as there is room.
    pub(super) fn fill(&mut self, world: &World, number: u64, side: usize) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let link = self.topology.link(connection.way(side));
        let (receiver, flow) = (&connection.sides[1 - side], &mut connection.flows[side]);
        let Some(end) = receiver.end.as_ref().filter(|_| receiver.life == Life::Open) else { return };
        while !flow.backlog.is_empty() && !flow.is_paused {
            let waiting = flow.backlog.as_slices().0;
            let piece = link.piece(&world.chance, waiting.len());
            let is_part = piece < waiting.len();
            match carrier::send(end, &waiting[..piece]) {
                Ok(count) => {
                    flow.backlog.drain(..count);
                    flow.outstanding -= count;
                    flow.is_paused = is_part && count == piece;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // The program reads no more: what comes is dropped.
                Err(_) => {
                    flow.outstanding -= flow.backlog.len();
                    flow.backlog.clear();
                }
            }
        }
        if flow.backlog.is_empty() && std::mem::take(&mut flow.is_at_end) {
            carrier::shut(end, rustix::net::Shutdown::Write);
        }
        if flow.is_paused {
            self.go_on_later(world, number, side);
        }
        self.drain(world, number, side);
    }

    fn go_on_later(&self, world: &World, number: u64, side: usize) {
        let pause = world.chance.between(Duration::from_micros(1), Duration::from_millis(1));
        world.after(pause, move |world| {
            world.net.with(|state| {
                if let Some(connection) = state.connections.get_mut(&number) {
                    connection.flows[side].is_paused = false;
                    state.fill(world, number, side);
                }
            });
        });
    }

    /// The first segment has not been answered: sends it again later, or gives up.
    fn again(&mut self, world: &World, number: u64, side: usize) -> bool {
        self.note(world, number, side, format_args!("unanswered"));
        let Some(connection) = self.connections.get_mut(&number) else { return false };
        let now = world.elapsed();
        let is_gone = connection.sides[side].life == Life::Gone;
        let limit = self.topology.link(connection.way(side)).send_timeout;
        let flow = &mut connection.flows[side];
        let (since, tries) = flow.failing.unwrap_or((now, 0));
        flow.failing = Some((since, tries + 1));
        if is_gone || now >= since + limit {
            flow.queue.clear();
            self.fail(world, number, side, Errno::TIMEDOUT);
            return false;
        }
        let at = (now + retry_after(tries)).min(since + limit);
        if let Some(head) = flow.queue.front_mut() {
            head.arrives = at;
        }
        self.call_at(world, number, side, at);
        false
    }
}
