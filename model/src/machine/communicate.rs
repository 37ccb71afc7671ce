//! Taking a move: communication, between threads (2010, Figure 4; 2011, Figure 8) and within one (2011, Figure 7).

use super::State;
use super::domains::{Base, Frame, Stack};
use super::moves::{At, Move, Offer};
use super::parasites;
use super::rule::{Rule, Tally};
use crate::syntax::{Op, Value};
use std::sync::Arc;

/// What two threads do whose parasites communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// 2010 Figure 4: each stays where it is.
    Apart,
    /// 2011 Figure 8, (MigrateLeft): the receiver comes to the sender's thread.
    Left,
    /// 2011 Figure 8, (MigrateRight): the sender comes to the receiver's thread.
    Right,
}

/// Takes a move.
pub fn take(state: &mut State, step: Move, meeting: Meeting, tally: &mut Tally) {
    match step {
        Move::Communicate(send, receive) => communicate(state, send, receive, meeting, tally),
        Move::Alone(offer) => alone(state, offer, tally),
        Move::Prepare(at) => prepare(state, at, tally),
    }
}

fn edit(state: &mut State, at: At) -> &mut Stack {
    state.dirty.push(at.t);
    Arc::make_mut(&mut state.threads[at.t].stacks[at.i])
}

/// (LocalCommunication) ⟨(rblock⌈c⌉ : k1) ‖ (sblock⌈c,v⌉ : k2) ‖ k̄⟩ → ⟨(ret⌈v⌉ : k1) ‖ (ret⌈unit⌉ : k2) ‖ k̄⟩
///
/// (Communication), 2010: the same with k1 and k2 in two threads. (Commit), ours: the same where one of them or both are
/// synchronisations with more branches.
fn communicate(state: &mut State, send: Offer, receive: Offer, meeting: Meeting, tally: &mut Tally) {
    let apart = send.at.t != receive.at.t;
    let rule = match (is_plain(state, send.at) && is_plain(state, receive.at), apart, meeting) {
        (false, ..) => Rule::Commit,
        (true, true, Meeting::Apart) => Rule::Communication,
        _ => Rule::LocalCommunication,
    };
    let (mut send, mut receive) = (send, receive);
    match meeting {
        Meeting::Left if apart => {
            tally.fire(Rule::MigrateLeft);
            migrate(state, &mut receive.at, &mut send.at);
        }
        Meeting::Right if apart => {
            tally.fire(Rule::MigrateRight);
            migrate(state, &mut send.at, &mut receive.at);
        }
        _ => {}
    }
    tally.fire(rule);
    let value = commit(state, send, None, true);
    commit(state, receive, Some(value), false);
}

fn is_plain(state: &State, at: At) -> bool {
    matches!(state.threads[at.t].stacks[at.i].frames.last(), Some(Frame::SBlock(..) | Frame::RBlock(_)))
}

/// (MigrateLeft), (MigrateRight): ⟨k1 ‖ k̄1⟩, ⟨k2 ‖ k̄2⟩ → ⟨k̄1⟩, ⟨k2 ‖ k1 ‖ k̄2⟩, where k1 is the one at `from`.
fn migrate(state: &mut State, from: &mut At, to: &mut At) {
    let stack = state.threads[from.t].stacks.swap_remove(from.i);
    let there = &mut state.threads[to.t].stacks;
    *from = At { t: to.t, i: there.len() };
    there.push(stack);
}

/// The branch happens: its stack has its result, `received` or what follows from the branch, and the nacks of the other
/// branches happen. Returns what the branch sent.
fn commit(state: &mut State, offer: Offer, received: Option<Value>, sends: bool) -> Value {
    let stack = edit(state, offer.at);
    match stack.frames.pop() {
        Some(Frame::SBlock(_, v)) => {
            stack.deliver(Value::Unit, 0);
            v
        }
        Some(Frame::SyncBlock(offers)) => {
            let branch = &offers.branches[offer.branch];
            stack.frames.extend(branch.wraps.iter().cloned().map(Frame::Fun));
            let sent =
                if let (Base::Send(_, v), true) = (&branch.base, sends) { v.clone() } else { Value::Unit };
            stack.deliver(received.unwrap_or(Value::Unit), branch.place.wrapping_add(1));
            let lost = offers.nacks.iter().filter(|nack| !branch.nacks.contains(nack));
            state.nacked.extend(lost);
            sent
        }
        _ => {
            stack.deliver(received.unwrap_or(Value::Unit), 0);
            Value::Unit
        }
    }
}

/// (CommitAlone), ours: `alwaysEvt`, a nack that has happened, an implicit thread that has ended.
fn alone(state: &mut State, offer: Offer, tally: &mut Tally) {
    tally.fire(Rule::CommitAlone);
    let base = match state.threads[offer.at.t].stacks[offer.at.i].frames.last() {
        Some(Frame::SyncBlock(offers)) => offers.branches[offer.branch].base.clone(),
        _ => return,
    };
    let value = match base {
        Base::Always(value) => value,
        Base::Pending(name) => state.value_of(name).cloned().unwrap_or(Value::Unit),
        _ => Value::Unit,
    };
    commit(state, offer, Some(value), false);
}

/// (Prepare): see `parasites`.
fn prepare(state: &mut State, at: At, tally: &mut Tally) {
    let Some(Frame::Todo(Op::Prepare, values)) = edit(state, at).frames.pop() else { return };
    let prepared = parasites::prepare(state, &values, tally);
    let stack = edit(state, at);
    match prepared {
        Some((ready, first)) => stack.deliver(ready, u64::from(first)),
        None => stack.frames.push(Frame::Stuck),
    }
}
