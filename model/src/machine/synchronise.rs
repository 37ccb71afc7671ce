//! Synchronisation: guards, offers, and asynchronous events.

use super::domains::{Config, Frame, Role, Stack};
use super::rule::{Rule, Tally};
use super::{State, events, global, parasites};
use crate::syntax::{Event, Op, Value};
use std::sync::Arc;

/// (Guard), (ChooseAll) or (Offer): what `sync` does next.
pub fn sync(state: &mut State, t: usize, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let Some(Frame::Todo(Op::Sync, values)) = k.frames.last() else { return global::stuck(state, t, k) };
    let [event] = &values[..] else { return global::stuck(state, t, k) };
    let event = event.clone();
    // (Guard), ours: the function runs on the caller, before anything is offered.
    if let Some((f, is_nack)) = events::first_guard(&event) {
        tally.fire(Rule::Guard);
        k.frames.pop();
        let nack = is_nack.then(|| k.make());
        let argument = nack.map_or(Value::Unit, |id| Value::Event(Arc::new(Event::Nack(id))));
        let f = f.clone();
        let k = k.with(Frame::Guarded(event, nack)).with(Frame::Fun(f));
        return Some(Config::Return(k.with(Frame::Ret(argument))));
    }
    if let Some(all) = events::all_of(&event) {
        return parasites::choose_all(state, t, k, all, tally);
    }
    match events::offers(&event) {
        // (Offer), ours: as (SendBlock) and (ReceiveBlock), for all branches at once.
        Some(offers) => {
            tally.fire(Rule::Offer);
            k.frames.pop();
            global::put(state, t, k.with(Frame::SyncBlock(Arc::new(offers))))
        }
        None => global::stuck(state, t, k),
    }
}

/// (ASync), ours after ACML: an implicit parasite synchronises. Its offers are made by this rule: what one computation
/// sends on a channel arrives in the order of its calls (`moves`, in order). The caller goes on with the result as an
/// event, after the functions of its `sWrap`s.
pub fn a_sync(state: &mut State, t: usize, mut k: Stack, tally: &mut Tally) -> Option<Config> {
    let Some(name) = k.bear() else { return global::stuck(state, t, k) };
    let Some(Frame::Todo(Op::ASync, values)) = k.frames.pop() else { return global::stuck(state, t, k) };
    let [event] = &values[..] else { return global::stuck(state, t, k) };
    let (inner, a_wraps, s_wraps) = events::asynchronous(event);
    tally.fire(Rule::ASync);
    let mut implicit = Stack::new(name, Role::Implicit(k.make()));
    implicit.frames.extend(a_wraps.into_iter().map(Frame::Fun));
    let offers = events::first_guard(inner).is_none().then(|| events::offers(inner)).flatten();
    let frame = match offers {
        Some(offers) => {
            tally.fire(Rule::Offer);
            Frame::SyncBlock(Arc::new(offers))
        }
        None => Frame::Todo(Op::Sync, vec![inner.clone()]),
    };
    global::put(state, t, implicit.with(frame));
    let pending = Value::Event(Arc::new(Event::Pending(name)));
    let mut k = k;
    if s_wraps.is_empty() {
        return Some(Config::Return(k.with(Frame::Ret(pending))));
    }
    k.frames.push(Frame::Created(pending));
    // Each is applied to the result of the one before, and the last result is dropped.
    k.frames.extend(s_wraps.into_iter().rev().map(Frame::Fun));
    Some(Config::Return(k.with(Frame::Ret(Value::Unit))))
}
