//! Arriving: segments are delivered at their time, or sent again if nothing answers; and what has arrived goes into the
//! receiver's carrier as it takes it.

use super::State;
use super::carrier;
use super::connection::Life;
use super::passage::retry_after;
use super::segment::Payload;
use crate::world::World;
use rustix::io::Errno;
use std::time::Duration;

impl State {
    /// Delivers the next segment, if it is due; true if there may be more.
    pub(super) fn arrive(&mut self, world: &World, number: u64, side: usize) -> bool {
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
            self.refuse_bytes(world, number, 1 - side);
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
            Payload::End => {
                flow.is_at_end = true;
                receiver.is_done = true;
                if connection.sides.iter().all(|side| side.is_done) {
                    [0, 1].into_iter().for_each(|side| self.carriers.disconnect(carrier::key(number, side)));
                }
            }
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
                // The program has shut down reading, and may ask all the same; or it has closed its end, as will be reported.
                Err(_) => break,
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
