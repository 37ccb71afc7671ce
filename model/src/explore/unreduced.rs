//! All orders of all rules, on whichever host: what the figures say, without any reduction. For the smallest programs.

use super::ByKey;
use crate::machine::communicate::{Meeting, take};
use crate::machine::domains::{Config, Stack};
use crate::machine::moves::moves;
use crate::machine::rule::Tally;
use crate::machine::settle::step;
use crate::machine::{State, Thread, hash_of};
use crate::outcome::Outcome;
use crate::syntax::{Exp, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// The values that the threads of a run halt with, in the order of their births; the Safety theorem speaks of them.
pub type Halts = Vec<Value>;

/// All outcomes, and the halt values of the runs in which all threads halt; `None` if there are more than `limit`
/// states. With `apart`, as the machine of 2010.
pub fn unreduced(
    program: &Exp,
    apart: bool,
    limit: usize,
    tally: &mut Tally,
) -> Option<(HashSet<Outcome, ByKey>, HashSet<Halts, ByKey>)> {
    let mut seen: HashSet<u64, ByKey> = HashSet::default();
    let (mut outcomes, mut halts) = (HashSet::default(), HashSet::default());
    let mut todo = vec![State::begin(program)];
    while let Some(state) = todo.pop() {
        if !seen.insert(structure(&state)) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let before = todo.len();
        local_steps(&state, &mut todo, tally);
        let meetings: &[Meeting] = if apart { &[Meeting::Apart] } else { &[Meeting::Left, Meeting::Right] };
        for step in moves(&state).into_iter().filter(|_| state.threads.iter().all(is_placed)) {
            for meeting in meetings {
                let mut next = state.clone();
                take(&mut next, step, *meeting, tally);
                todo.push(next);
            }
        }
        if todo.len() == before {
            outcomes.insert(Outcome::of(&state));
            halts.extend(halts_of(&state));
        }
    }
    Some((outcomes, halts))
}

/// The figures' communications are of threads in return states. A thread in a control state first evaluates.
fn is_placed(thread: &Thread) -> bool {
    !matches!(thread.control, Some(Config::Control(..)))
}

fn local_steps(state: &State, todo: &mut Vec<State>, tally: &mut Tally) {
    for (t, thread) in state.threads.iter().enumerate() {
        let stacks = thread.stacks.iter().enumerate();
        let ready: Vec<usize> = match thread.control {
            Some(_) => vec![0],
            None => stacks.filter(|(_, stack)| !stack.is_blocked()).map(|(i, _)| i).collect(),
        };
        for i in ready {
            let mut next = state.clone();
            step(&mut next, t, i, tally);
            todo.push(next);
        }
    }
}

/// `T[t0 ↦ halt(v0) ... tn ↦ halt(vn)]`. Threads that were left by all their parasites are none.
pub fn halts_of(state: &State) -> Option<Halts> {
    let is_over = |thread: &Thread| thread.control.is_none() && thread.stacks.is_empty();
    if !state.reified.is_empty() || !state.threads.iter().all(is_over) {
        return None;
    }
    Some(state.threads.iter().filter_map(|thread| thread.halt.clone()).collect())
}

/// A hash of the whole state: of the sets in it without an order.
fn structure(state: &State) -> u64 {
    let set = |stacks: &[Arc<Stack>]| stacks.iter().map(|stack| hash_of(&**stack)).fold(0, u64::wrapping_add);
    let thread = |thread: &Thread| hash_of(&(thread.id, &thread.control, set(&thread.stacks), &thread.halt));
    let threads = state.threads.iter().map(thread).fold(0, u64::wrapping_add);
    let reified = state.reified.iter().map(hash_of).fold(0, u64::wrapping_add);
    let ended = state.ended.iter().map(hash_of).fold(0, u64::wrapping_add);
    let nacked = state.nacked.iter().map(hash_of).fold(0, u64::wrapping_add);
    hash_of(&(threads, reified, ended, nacked))
}
