//! All interleavings.
//!
//! Two states are taken for the same if the hashes of their computations' results are (64 bits; a collision would lose
//! outcomes, so what is not found is looked for again by `replay` before it counts as an error). Where the computations
//! are, on which host, is left out: no rule that makes a difference to an outcome looks at it.

use super::{ByKey, advance};
use crate::machine::State;
use crate::machine::moves::{moves, sure};
use crate::machine::rule::Tally;
use crate::machine::settle::settle;
use crate::outcome::Outcome;
use crate::syntax::Exp;
use std::collections::HashSet;

/// The outcomes of a program.
#[derive(Debug, Default)]
pub struct Explored {
    /// Each outcome that was found.
    pub outcomes: HashSet<Outcome, ByKey>,
    /// The number of states.
    pub states: usize,
    /// True if there are no others.
    pub is_complete: bool,
}

/// All outcomes of the program, unless it has more than `limit` states.
pub fn all(program: &Exp, limit: usize, tally: &mut Tally) -> Explored {
    let mut explored = Explored { is_complete: true, ..Explored::default() };
    let mut seen: HashSet<u64, ByKey> = HashSet::default();
    let mut first = State::begin(program);
    settle(&mut first, tally);
    let mut todo = vec![first];
    while let Some(mut state) = todo.pop() {
        let mut possible = moves(&state);
        while let Some(step) = sure(&state, &possible) {
            advance(&mut state, step, tally);
            possible = moves(&state);
        }
        if !seen.insert(state.key()) {
            continue;
        }
        explored.states += 1;
        if explored.states > limit {
            explored.is_complete = false;
            return explored;
        }
        if possible.is_empty() {
            explored.outcomes.insert(Outcome::of(&state));
            continue;
        }
        let last = possible.len() - 1;
        for step in &possible[..last] {
            let mut next = state.clone();
            advance(&mut next, *step, tally);
            todo.push(next);
        }
        advance(&mut state, possible[last], tally);
        todo.push(state);
    }
    explored
}

impl State {
    /// A hash of all that computations have been given.
    pub fn key(&self) -> u64 {
        let reified = self.reified.iter().map(|one| one.stack.key());
        self.stacks().map(|stack| stack.key()).chain(reified).fold(self.gone, u64::wrapping_add)
    }
}
