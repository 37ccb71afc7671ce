//! Resets: a side ends a connection at once, or the network does.

use super::State;
use super::carrier::{self, key};
use super::connection::Life;
use super::datagram::take_refusal;
use crate::world::World;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

/// How the network has ended a side, for the program to find out.
pub(super) struct Ended {
    /// Until it has been told.
    error: Option<Errno>,
    /// The end of the stream came before: reads find that.
    is_done: bool,
    /// What had arrived before, and is not in the carrier.
    late: VecDeque<u8>,
}

impl State {
    pub(super) fn end_with(
        &mut self,
        number: u64,
        side: usize,
        error: Errno,
        is_done: bool,
        late: VecDeque<u8>,
    ) {
        // As the kernel says of a connection whose other direction had ended.
        let error = if is_done && error == Errno::CONNRESET { Errno::PIPE } else { error };
        self.carriers.disconnect(key(number, side));
        self.ended.insert(key(number, side), Ended { error: Some(error), is_done, late });
    }

    /// Keeps what has come to a side that has no carrier any more.
    pub(super) fn keep_late(&mut self, number: u64, side: usize, late: VecDeque<u8>) {
        if !late.is_empty() {
            self.ended.insert(key(number, side), Ended { error: None, is_done: false, late });
        }
    }

    /// Bytes have come to a side that has closed, or that has shut down both directions and learns of it.
    pub(super) fn refuse_bytes(&mut self, world: &World, number: u64, side: usize) {
        self.send_reset(world, number, side);
        let Some(connection) = self.connections.get(&number) else { return };
        let this = &connection.sides[side];
        if this.reads_no_more && !this.is_done && this.life != Life::Gone {
            let late = self.ended.remove(&key(number, side)).map(|ended| ended.late);
            self.end_with(number, side, Errno::CONNRESET, false, late.unwrap_or_default());
        }
    }

    /// The error with which the network has ended this socket, which is not given again.
    pub(super) fn take_error(&mut self, socket: impl AsFd) -> Option<Errno> {
        let key = self.carriers.known(&socket)?.key;
        if self.datagrams.contains_key(&carrier::whose(key).0) {
            return take_refusal(socket);
        }
        self.ended.get_mut(&key)?.error.take()
    }

    /// What a read is given that has found the end of the carrier: what has come and is not in there, the error, or the end.
    pub(super) fn read_at_end(
        &mut self,
        world: &World,
        socket: impl AsFd,
        room: &mut [MaybeUninit<u8>],
        peeks: bool,
    ) -> Result<usize, Errno> {
        let Some(known) = self.carriers.known(socket) else { return Ok(0) };
        let key = known.key;
        let (number, side) = carrier::whose(key);
        if let Some(connection) = self.connections.get_mut(&number) {
            let flow = &mut connection.flows[1 - side];
            let has_more = !flow.backlog.is_empty();
            let count = take(&mut flow.backlog, room, peeks);
            if has_more {
                flow.outstanding -= if peeks { 0 } else { count };
                self.drain(world, number, 1 - side);
                return Ok(count);
            }
        }
        let Some(ended) = self.ended.get_mut(&key) else { return Ok(0) };
        let is_last = ended.late.is_empty();
        let count = take(&mut ended.late, room, peeks);
        match &mut ended.error {
            error @ Some(_) if is_last && !ended.is_done => error.take().map_or(Ok(0), Err),
            _ => Ok(count),
        }
    }

    /// The program shuts down its socket, which the carrier does next.
    ///
    /// # Errors
    /// `ENOTCONN` if both directions have ended.
    pub(super) fn shut_down(&mut self, world: &World, socket: impl AsFd, how: Shutdown) -> Result<(), Errno> {
        self.attend(world);
        let Some(known) = self.carriers.known(&socket) else { return Ok(()) };
        if known.peer.is_none() {
            return Err(Errno::NOTCONN);
        }
        let (number, side) = carrier::whose(known.key);
        if let Some(connection) = self.connections.get_mut(&number) {
            if how != Shutdown::Write {
                // What is unread is in one place from now on.
                let flow = &mut connection.flows[1 - side];
                let mut room = [0; 4096];
                let mut unread = VecDeque::new();
                while let Ok((count @ 1.., _)) = rustix::net::recv(&socket, &mut room, RecvFlags::DONTWAIT) {
                    unread.extend(&room[..count]);
                }
                flow.outstanding += unread.len();
                unread.append(&mut flow.backlog);
                flow.backlog = unread;
            }
            connection.sides[side].reads_no_more |= how != Shutdown::Write;
            connection.sides[side].writes_no_more |= how != Shutdown::Read;
        }
        Ok(())
    }

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

/// Moves, or copies, what fits.
fn take(from: &mut VecDeque<u8>, room: &mut [MaybeUninit<u8>], peeks: bool) -> usize {
    let count = from.len().min(room.len());
    for (place, byte) in room.iter_mut().zip(&*from) {
        place.write(*byte);
    }
    if !peeks {
        from.drain(..count);
    }
    count
}
