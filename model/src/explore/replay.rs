//! One interleaving: that in which who has met whom is what was observed on the runtime.
//!
//! Each operation has one result. So what was observed are disjoint pairs, and none of them makes another impossible:
//! they may be taken in any order in which they are possible. If they cannot all be taken so, or if the machine could go
//! on afterwards, or if it then says something else of a computation, then the machine has no such run. This decides
//! it, for programs of any size.

use super::advance;
use crate::machine::Progress;
use crate::machine::State;
use crate::machine::domains::Frame;
use crate::machine::moves::{Move, moves, place_of, stack_of};
use crate::machine::rule::Tally;
use crate::machine::settle::settle;
use crate::names::Made;
use crate::outcome::Outcome;
use crate::syntax::{Exp, Value};
use std::fmt;

/// A value has gone from one operation to another; each with the place of its branch in its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communication {
    /// The send.
    pub from: (Made, u64),
    /// The receive.
    pub to: (Made, u64),
}

/// What was observed of a run.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Values that were received.
    pub communications: Vec<Communication>,
    /// Branches that needed no partner.
    pub alone: Vec<(Made, u64)>,
    /// The `prepare`s, and whether each was the first of its parasite.
    pub prepared: Vec<(Made, bool)>,
    /// The end.
    pub outcome: Outcome,
}

/// Why the machine has no such run.
#[derive(Clone, Debug)]
pub enum Refused {
    /// This was observed, and is not possible.
    Impossible(String),
    /// Nothing more was observed, but the machine does not stop here.
    GoesOn(String),
    /// It stops here with another outcome.
    Otherwise(Outcome),
}

/// Whether the machine has such a run.
pub fn replay(program: &Exp, observed: &Observed, tally: &mut Tally) -> Result<(), Refused> {
    let mut left = observed.clone();
    let mut state = State::begin(program);
    settle(&mut state, tally);
    loop {
        let possible = moves(&state);
        let Some(step) = possible.iter().find(|step| left.remove(&state, step)) else {
            return judge(&state, &possible, left, &observed.outcome);
        };
        advance(&mut state, *step, tally);
    }
}

fn judge(state: &State, possible: &[Move], left: Observed, outcome: &Outcome) -> Result<(), Refused> {
    if let Some(one) = left.communications.first() {
        return Err(Refused::Impossible(format!("the value of {} was received by {}", one.from.0, one.to.0)));
    }
    if let Some((one, _)) = left.alone.first() {
        return Err(Refused::Impossible(format!("a branch of {one} has happened")));
    }
    if let Some((one, first)) = left.prepared.first() {
        let which = if *first { "the first" } else { "not the first" };
        return Err(Refused::Impossible(format!("{one} was {which} prepare of its parasite")));
    }
    if let Some(step) = possible.first() {
        return Err(Refused::GoesOn(describe(state, *step)));
    }
    let own = Outcome::of(state);
    if own == *outcome { Ok(()) } else { Err(Refused::Otherwise(own)) }
}

fn describe(state: &State, step: Move) -> String {
    match step {
        Move::Communicate(send, receive) => {
            let (from, to) = (stack_of(state, send.at).op(), stack_of(state, receive.at).op());
            format!("{to} can receive from {from}")
        }
        Move::Alone(offer) => format!("{} can go on alone", stack_of(state, offer.at).op()),
        Move::Prepare(at) => format!("{} can prepare its parasite", stack_of(state, at).op()),
    }
}

impl Observed {
    /// Takes the step out of what was observed; false if it was not.
    fn remove(&mut self, state: &State, step: &Move) -> bool {
        match *step {
            Move::Communicate(send, receive) => {
                let from = (stack_of(state, send.at).op(), place_of(state, send));
                let to = (stack_of(state, receive.at).op(), place_of(state, receive));
                remove(&mut self.communications, &Communication { from, to })
            }
            Move::Alone(offer) => {
                remove(&mut self.alone, &(stack_of(state, offer.at).op(), place_of(state, offer)))
            }
            Move::Prepare(at) => {
                let stack = stack_of(state, at);
                let Some(Frame::Todo(_, values)) = stack.frames.last() else { return false };
                let waits = |id| {
                    let mut all = state.reified.iter();
                    all.any(|one| one.id == id && matches!(one.progress, Progress::Waiting))
                };
                let first = matches!(values[..], [Value::Par(id), _] if waits(id));
                remove(&mut self.prepared, &(stack.op(), first))
            }
        }
    }
}

fn remove<T: PartialEq>(from: &mut Vec<T>, one: &T) -> bool {
    let found = from.iter().position(|other| other == one);
    found.map(|at| from.swap_remove(at)).is_some()
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Impossible(what) => write!(f, "the machine cannot do this: {what}"),
            Self::GoesOn(what) => write!(f, "the machine would go on: {what}"),
            Self::Otherwise(outcome) => write!(f, "the machine would stop with {outcome}"),
        }
    }
}
