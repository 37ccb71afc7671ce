//! Resets: a side ends a connection at once, or the network does.

use super::State;
use super::connection::Life;
use crate::world::World;
use rustix::io::Errno;

impl State {
    /// The program has ended this side without reading what has come: it has no socket any more, and the other is reset.
    pub(super) fn abort(&mut self, world: &World, number: u64, side: usize) {
        self.send_reset(world, number, side);
        self.end_side(number, side, Life::Closed);
    }

    /// This side answers that it knows nothing of the connection, or not any more. It comes after what it has sent before; it
    /// is not sent again if it is lost.
    pub(super) fn send_reset(&mut self, world: &World, number: u64, side: usize) {
        self.note(world, number, side, format_args!("rst"));
        let Some(connection) = self.connections.get(&number) else { return };
        let way = connection.way(side);
        let now = world.elapsed();
        let arrives = (now + self.topology.link(way).delay(&world.chance)).max(connection.flows[side].last);
        world.after(arrives - now, move |world| {
            world.net.with(|state| match state.topology.passes(way) {
                true => state.fail(world, number, 1 - side, Errno::CONNRESET),
                false => state.note(world, number, side, format_args!("rst lost")),
            });
        });
    }

    /// The network resets both sides.
    pub(super) fn cut(&mut self, world: &World, number: u64) {
        for side in [0, 1] {
            self.fail(world, number, side, Errno::CONNRESET);
        }
    }
}
