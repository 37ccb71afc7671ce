//! The parasite API (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight Asynchrony Using
//! Parasitic Threads*, 2011, Figure 3, sections 2.3 and 2.3.1), for which the papers have no rules, and `chooseAll`, which
//! Figure 5 writes with it.

use super::domains::{Config, Frame, Role, Stack};
use super::rule::{Rule, Tally};
use super::{Progress, Reified, State, global};
use crate::names::Made;
use crate::syntax::{Op, Value};
use std::sync::Arc;

/// (Reify) "This applies f on the reference to the parasite. [...] Once the parasite has been reified, the control
/// immediately switches to the next parasite on the host stack": the stack leaves its thread, and f is applied there, on
/// a stack of its own.
pub fn reify(state: &mut State, t: usize, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let Some(name) = k.bear() else { return global::stuck(state, t, k) };
    let Some(Frame::Todo(Op::Reify, values)) = k.frames.pop() else { return global::stuck(state, t, k) };
    let [f] = &values[..] else { return global::stuck(state, t, k) };
    tally.fire(Rule::Reify);
    let id = k.make();
    state.reified.push(Reified { id, stack: Arc::new(k), progress: Progress::Waiting });
    let applied = Stack::new(name, Role::Inner).with(Frame::Discard).with(Frame::Fun(f.clone()));
    Some(Config::Return(applied.with(Frame::Ret(Value::Par(id)))))
}

/// (Prepare) Gives the parasite its value. The paper's references are used once; a second use does nothing, so which one
/// is the first is a choice ([`super::moves::Move::Prepare`]). Returns the result, and whether this was the first.
pub fn prepare(state: &mut State, values: &[Value], tally: &mut Tally) -> Option<(Value, bool)> {
    let [Value::Par(id), value] = values else { return None };
    tally.fire(Rule::Prepare);
    let waiting =
        state.reified.iter_mut().find(|one| one.id == *id && matches!(one.progress, Progress::Waiting));
    let first = waiting.map(|one| one.progress = Progress::Prepared(value.clone())).is_some();
    Some((Value::Ready(*id), first))
}

/// The stack of a prepared parasite, with its value on it.
fn take_prepared(state: &mut State, id: Made) -> Option<Stack> {
    let at =
        state.reified.iter().position(|one| one.id == id && matches!(one.progress, Progress::Prepared(_)))?;
    let Reified { stack, progress: Progress::Prepared(value), .. } = state.reified.swap_remove(at) else {
        return None;
    };
    let mut stack = Arc::unwrap_or_clone(stack);
    stack.deliver(value, 0);
    Some(stack)
}

/// (Attach) The prepared parasite is one of this thread's, and goes on with its value; so does the caller with unit.
pub fn attach(state: &mut State, t: usize, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let Some(Frame::Todo(Op::Attach, values)) = k.frames.pop() else { return global::stuck(state, t, k) };
    let [Value::Ready(id)] = values[..] else { return global::stuck(state, t, k) };
    if tally.has(Rule::Attach) {
        tally.fire(Rule::Attach);
        if let Some(attached) = take_prepared(state, id) {
            global::put(state, t, attached);
        }
    }
    Some(Config::Return(k.with(Frame::Ret(Value::Unit))))
}

/// (SpawnReady) "Asynchronously inflate a reified parasite by spawning a new host that attaches the reified parasite"
pub fn spawn_ready(state: &mut State, t: usize, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let Some(Frame::Todo(Op::SpawnReady, values)) = k.frames.pop() else { return global::stuck(state, t, k) };
    let [Value::Ready(id)] = values[..] else { return global::stuck(state, t, k) };
    tally.fire(Rule::SpawnReady);
    let thread = k.make();
    if let Some(attached) = take_prepared(state, id) {
        state.start(thread, Config::Return(attached));
    }
    Some(Config::Return(k.with(Frame::Ret(Value::Unit))))
}

/// (ChooseAll) Figure 5, lines 7 to 27: the caller is reified, and a parasite synchronises on each part.
pub fn choose_all(
    state: &mut State,
    t: usize,
    mut k: Stack,
    (parts, wraps): (Arc<[Value]>, Vec<Value>),
    tally: &mut Tally,
) -> Option<Config> {
    let names: Option<Vec<_>> = parts.iter().map(|_| k.bear()).collect();
    let Some(names) = names else { return global::stuck(state, t, k) };
    tally.fire(Rule::ChooseAll);
    k.frames.pop();
    if parts.is_empty() {
        return Some(Config::Return(apply(k, wraps, Value::List(Arc::new([])))));
    }
    let id = k.op();
    for (n, (name, part)) in names.into_iter().zip(parts.iter()).enumerate() {
        let stack = Stack::new(name, Role::Inner).with(Frame::Finish(id, n));
        global::put(state, t, stack.with(Frame::Todo(Op::Sync, vec![part.clone()])));
    }
    let slots = parts.iter().map(|_| None).collect();
    state.reified.push(Reified { id, stack: Arc::new(k), progress: Progress::All(slots, wraps) });
    None
}

/// (Finish) Figure 5, lines 9 to 20: the result is stored; the last one attaches the reified caller, here.
pub fn finish(state: &mut State, t: usize, parent: Made, n: usize, value: Value, tally: &mut Tally) {
    if !tally.has(Rule::Finish) {
        return;
    }
    tally.fire(Rule::Finish);
    let found =
        state.reified.iter().position(|one| one.id == parent && matches!(one.progress, Progress::All(..)));
    let Some(at) = found else { return };
    let Progress::All(slots, wraps) = &mut state.reified[at].progress else { return };
    let filled: Arc<[Option<Value>]> = slots
        .iter()
        .enumerate()
        .map(|(i, slot)| if i == n { Some(value.clone()) } else { slot.clone() })
        .collect();
    if let Some(all) = filled.iter().cloned().collect::<Option<Arc<[Value]>>>() {
        let wraps = std::mem::take(wraps);
        let stack = Arc::unwrap_or_clone(state.reified.swap_remove(at).stack);
        global::put(state, t, apply(stack, wraps, Value::List(all)));
    } else {
        *slots = filled;
    }
}

/// The stack with the result of its synchronisation, and the functions that it goes through.
fn apply(mut k: Stack, wraps: Vec<Value>, value: Value) -> Stack {
    k.frames.extend(wraps.into_iter().map(Frame::Fun));
    k.deliver(value, 0);
    k
}
