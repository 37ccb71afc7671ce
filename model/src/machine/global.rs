//! Figure 8, and those rules of Figure 7 that look at the other stacks of a thread (k̄).

use super::domains::{Config, Frame, Role, Stack};
use super::rule::{Rule, Tally};
use super::{State, mix};
use crate::names::Made;
use crate::syntax::{Env, Exp, Node, Op, Value};
use std::sync::Arc;

/// Takes a rule on what thread `t` evaluates, where none of `local` applies. Returns what it evaluates next; `None`: its
/// stack is now one of the thread's others, or has left it.
pub fn step(state: &mut State, t: usize, config: Config, tally: &mut Tally) -> Option<Config> {
    match config {
        Config::Control(e, r, k) => match &*e {
            Node::Chan => channel(k, tally),
            Node::Spawn(body) => spawn(state, t, body, r, k, tally),
            Node::Parasite(_, body) => spawn_parasite(state, t, body, r, k, tally),
            Node::Inflate(body) => inflate(state, body, r, k, tally),
            _ => stuck(state, t, k),
        },
        Config::Return(k) => match k.frames.last() {
            Some(Frame::Todo(op, _)) => perform(state, t, *op, k, tally),
            Some(Frame::Ret(_)) => halt(state, t, k, tally),
            _ if k.is_blocked() => put(state, t, k),
            _ => stuck(state, t, k),
        },
    }
}

/// The stack is one of the thread's others.
pub fn put(state: &mut State, t: usize, k: Stack) -> Option<Config> {
    state.threads[t].stacks.push(Arc::new(k));
    None
}

/// No rule applies to the stack: it stays as it is, for ever.
pub fn stuck(state: &mut State, t: usize, k: Stack) -> Option<Config> {
    put(state, t, k.with(Frame::Stuck))
}

fn perform(state: &mut State, t: usize, op: Op, k: Stack, tally: &mut Tally) -> Option<Config> {
    match op {
        Op::Reify => super::parasites::reify(state, t, k, tally),
        Op::Prepare => put(state, t, k),
        Op::Attach => super::parasites::attach(state, t, k, tally),
        Op::SpawnReady => super::parasites::spawn_ready(state, t, k, tally),
        Op::Sync => super::synchronise::sync(state, t, k, tally),
        Op::ASync => super::synchronise::a_sync(state, t, k, tally),
        _ => stuck(state, t, k),
    }
}

/// (Channel) c fresh; T[t ↦ ⟨Chan(),r,k,k̄⟩] → T[t ↦ ⟨ret⌈c⌉ : k ‖ k̄⟩]
fn channel(mut k: Stack, tally: &mut Tally) -> Option<Config> {
    tally.fire(Rule::Channel);
    let c = k.make();
    Some(Config::Return(k.with(Frame::Ret(Value::Chan(c)))))
}

/// (Spawn) t' fresh; T[t ↦ ⟨spawn(e),r,k,k̄⟩] → T[t ↦ ⟨ret⌈unit⌉ : k ‖ k̄⟩, t' ↦ ⟨e,r,·,∅⟩]
fn spawn(state: &mut State, t: usize, e: &Exp, r: Env, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let Some(name) = k.bear() else { return stuck(state, t, k) };
    tally.fire(Rule::Spawn);
    let new = Config::Control(e.clone(), r, Stack::new(name, Role::Program));
    state.start(Made { by: name, nth: 0 }, new);
    Some(Config::Return(k.with(Frame::Ret(Value::Unit))))
}

/// (SpawnParasite) ⟨parasiteSpawn(e),r,k,k̄⟩ → ⟨e,r,·,(ret⌈unit⌉ : k) ‖ k̄⟩
fn spawn_parasite(
    state: &mut State,
    t: usize,
    e: &Exp,
    r: Env,
    mut k: Stack,
    tally: &mut Tally,
) -> Option<Config> {
    let Some(name) = k.bear() else { return stuck(state, t, k) };
    tally.fire(Rule::SpawnParasite);
    put(state, t, k.with(Frame::Ret(Value::Unit)));
    Some(Config::Control(e.clone(), r, Stack::new(name, Role::Program)))
}

/// (Inflate) t' fresh; T[t ↦ ⟨inflate(e),r,k,k̄⟩] → T[t ↦ ⟨k̄⟩, t' ↦ ⟨e,r,k,∅⟩]
///
/// If k̄ is empty, the paper leaves t ↦ ⟨∅⟩, to which no rule applies. Here such a thread is none.
fn inflate(state: &mut State, e: &Exp, r: Env, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    if !tally.has(Rule::Inflate) {
        return None;
    }
    tally.fire(Rule::Inflate);
    let id = k.make();
    state.start(id, Config::Control(e.clone(), r, k));
    None
}

/// A value with nothing below, or with a frame of the machine's own parasites.
fn halt(state: &mut State, t: usize, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let [below @ .., Frame::Ret(v)] = &k.frames[..] else { return stuck(state, t, k) };
    let v = v.clone();
    match below {
        [] => {}
        [Frame::Discard] => k.frames.clear(),
        [Frame::Finish(parent, n)] => {
            let (parent, n) = (*parent, *n);
            super::parasites::finish(state, t, parent, n, v, tally);
            return Some(Config::Return(Stack { frames: vec![Frame::Ret(Value::Unit)], ..k }));
        }
        _ => return stuck(state, t, k),
    }
    state.gone = state.gone.wrapping_add(mix(k.key(), 1));
    if k.role != Role::Inner {
        state.ended.push((k.name, v.clone()));
    }
    let thread = &mut state.threads[t];
    if thread.stacks.is_empty() {
        // (ThreadHalt) ⟨ret⌈v⌉ : · ‖ ∅⟩ → halt(v)
        tally.fire(Rule::ThreadHalt);
        thread.halt = Some(v);
    } else {
        // (ParasiteHalt) ⟨ret⌈v⌉ : · ‖ k̄⟩ → ⟨k̄⟩, where k̄ is not empty: the text says so, the figure does not.
        tally.fire(Rule::ParasiteHalt);
    }
    None
}
