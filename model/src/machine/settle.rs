//! Taking rules until only communications are left.
//!
//! What a computation does alone changes nothing that others see, but by what it starts or offers, and nobody can stop
//! it. So all orders of such rules lead to the same state, and one of them is enough (`tests/reduction.rs` compares with
//! all orders).

use super::domains::{Config, Stack};
use super::rule::{Rule, Tally};
use super::{State, Thread, global, local};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Takes rules as long as one applies that is no [move](super::moves).
pub fn settle(state: &mut State, tally: &mut Tally) {
    while let Some(t) = state.dirty.pop() {
        while let Some(config) = state.threads[t].next() {
            let mut next = Some(config);
            while let Some(config) = next {
                next = match local::step(config, tally) {
                    ControlFlow::Continue(config) => {
                        tally.fire(Rule::LocalEvaluation);
                        Some(config)
                    }
                    ControlFlow::Break(config) => global::step(state, t, config, tally),
                };
            }
        }
    }
}

/// One rule of thread `t`: of what it evaluates, or else of its stack `i`.
pub fn step(state: &mut State, t: usize, i: usize, tally: &mut Tally) {
    let config = match state.threads[t].control.take() {
        Some(config) => config,
        None => Config::Return(state.threads[t].take(i)),
    };
    let next = match local::step(config, tally) {
        ControlFlow::Continue(config) => Some(config),
        ControlFlow::Break(config) => global::step(state, t, config, tally),
    };
    match next {
        // "A thread switches evaluation between its various parasitic threads [...] when it transitions to a return
        // state."
        Some(Config::Return(k)) => state.threads[t].stacks.push(Arc::new(k)),
        next => state.threads[t].control = next,
    }
}

impl Thread {
    /// What it may evaluate now: any of its stacks that is not blocked, if it is in a return state.
    fn next(&mut self) -> Option<Config> {
        if let Some(config) = self.control.take() {
            return Some(config);
        }
        let i = self.stacks.iter().position(|stack| !stack.is_blocked())?;
        Some(Config::Return(self.take(i)))
    }

    /// Takes a stack out.
    pub fn take(&mut self, i: usize) -> Stack {
        Arc::unwrap_or_clone(self.stacks.swap_remove(i))
    }
}
