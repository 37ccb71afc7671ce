//! Which communications are possible in a state: the points where interleavings differ.

use super::State;
use super::domains::{Base, Frame, Role, Stack};
use crate::names::{Made, Name};
use crate::syntax::Op;

/// A stack of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The thread.
    pub t: usize,
    /// The stack.
    pub i: usize,
}

/// A branch of a stack that waits: for (SendBlock) and (ReceiveBlock) the only one, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Whose.
    pub at: At,
    /// Which branch.
    pub branch: usize,
}

/// A step that may be a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A value goes from one to the other.
    Communicate(Offer, Offer),
    /// A branch happens without a partner.
    Alone(Offer),
    /// A reified parasite gets its value, or had one.
    Prepare(At),
}

/// Where an offer is in the order of what its computation has sent (or received) on a channel: the computation, and
/// which of its asynchronous events. What it does itself comes after all that it has begun.
fn order(stack: &Stack) -> (Name, u16) {
    match stack.role {
        Role::Implicit(made) if stack.ops == 0 => (made.by, u16::from(made.nth)),
        _ => (stack.name, u16::MAX),
    }
}

/// A communication on a channel that is offered.
struct Out {
    c: Made,
    sends: bool,
    offer: Offer,
    order: (Name, u16),
}

/// All steps that are choices.
pub fn moves(state: &State) -> Vec<Move> {
    let (mut moves, mut outs) = (Vec::new(), Vec::with_capacity(8));
    for (t, thread) in state.threads.iter().enumerate() {
        for (i, stack) in thread.stacks.iter().enumerate() {
            collect(state, At { t, i }, stack, &mut outs, &mut moves);
        }
    }
    for send in outs.iter().filter(|out| out.sends) {
        for receive in outs.iter().filter(|out| !out.sends && out.c == send.c) {
            let (to, from) = (receive.offer.at, send.offer.at);
            if to != from && is_first(send, to, &outs) && is_first(receive, from, &outs) {
                moves.push(Move::Communicate(send.offer, receive.offer));
            }
        }
    }
    moves
}

/// In order (ACML): the same computation has begun no earlier one on this channel that still waits. (An earlier one that
/// is another branch of `with`, the partner, is withdrawn by this communication.)
fn is_first(out: &Out, with: At, outs: &[Out]) -> bool {
    let earlier = |other: &Out| {
        other.c == out.c
            && other.sends == out.sends
            && other.offer.at != with
            && other.order.0 == out.order.0
            && other.order.1 < out.order.1
    };
    !outs.iter().any(earlier)
}

fn collect(state: &State, at: At, stack: &Stack, outs: &mut Vec<Out>, moves: &mut Vec<Move>) {
    let order = order(stack);
    let mut out = |c: Made, sends, branch| outs.push(Out { c, sends, offer: Offer { at, branch }, order });
    match stack.frames.last() {
        Some(Frame::SBlock(c, _)) => out(*c, true, 0),
        Some(Frame::RBlock(c)) => out(*c, false, 0),
        Some(Frame::Todo(Op::Prepare, _)) => moves.push(Move::Prepare(at)),
        Some(Frame::SyncBlock(offers)) => {
            for (branch, offer) in offers.branches.iter().enumerate() {
                let happens = match &offer.base {
                    Base::Send(c, _) => {
                        out(*c, true, branch);
                        false
                    }
                    Base::Recv(c) => {
                        out(*c, false, branch);
                        false
                    }
                    Base::Always(_) => true,
                    Base::Nack(id) => state.nacked.contains(id),
                    Base::Pending(name) => state.value_of(*name).is_some(),
                };
                if happens {
                    moves.push(Move::Alone(Offer { at, branch }));
                }
            }
        }
        _ => {}
    }
}

/// A move that is no choice: it stays possible until it is taken, and its computation has no other.
pub fn sure(state: &State, moves: &[Move]) -> Option<Move> {
    let only = |one: &&Move| match one {
        Move::Alone(offer) => match stack_of(state, offer.at).frames.last() {
            Some(Frame::SyncBlock(offers)) => offers.branches.len() == 1,
            _ => false,
        },
        _ => false,
    };
    moves.iter().find(only).copied()
}

/// The stack there.
pub fn stack_of(state: &State, at: At) -> &Stack {
    &state.threads[at.t].stacks[at.i]
}

/// The place in its event of a branch.
pub fn place_of(state: &State, offer: Offer) -> u64 {
    match stack_of(state, offer.at).frames.last() {
        Some(Frame::SyncBlock(offers)) => offers.branches[offer.branch].place,
        _ => 0,
    }
}
