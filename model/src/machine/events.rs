//! Events as values, and what a synchronisation on one offers.
//!
//! The parasite papers take events from Concurrent ML (2011, 1 and 2.3.2) without rules for them. These follow CML's
//! meaning: the guards run first, from left to right; then all branches are offered at once; one of them happens, and
//! the nacks of the others do.

use super::domains::{Base, Branch, Offers};
use crate::names::Made;
use crate::syntax::{Event, Op, Value};
use std::sync::Arc;

/// The value of an operation that makes an event; `None` for other operations and for operands that are no such thing.
pub fn construct(op: Op, values: &[Value]) -> Option<Value> {
    let event = match (op, values) {
        (Op::SendEvt, [Value::Chan(c), v]) => Event::Send(*c, v.clone()),
        (Op::RecvEvt, [Value::Chan(c)]) => Event::Recv(*c),
        (Op::AlwaysEvt, [v]) => Event::Always(v.clone()),
        (Op::NeverEvt, []) => Event::Never,
        (Op::Wrap, [event, f]) => Event::Wrap(event.clone(), f.clone()),
        (Op::Guard, [f]) => Event::Guard(f.clone()),
        (Op::WithNack, [f]) => Event::WithNack(f.clone()),
        (Op::Choose, all) => Event::Choose(all.into()),
        (Op::ChooseAll, all) => Event::ChooseAll(all.into()),
        (Op::AWrap, [event, f]) => Event::AWrap(event.clone(), f.clone()),
        (Op::SWrap, [event, f]) => Event::SWrap(event.clone(), f.clone()),
        _ => return None,
    };
    Some(Value::Event(Arc::new(event)))
}

/// The function of the first guard or `withNack` that has not run, and whether it is a `withNack`.
pub fn first_guard(event: &Value) -> Option<(&Value, bool)> {
    let Value::Event(event) = event else { return None };
    match &**event {
        Event::Guard(f) => Some((f, false)),
        Event::WithNack(f) => Some((f, true)),
        Event::Wrap(inner, _) | Event::Nacked(_, inner) => first_guard(inner),
        Event::Choose(all) => all.iter().find_map(first_guard),
        _ => None,
    }
}

/// The event with `made` in the place of its first guard.
pub fn fill(event: &Value, nack: Option<Made>, made: Value) -> Value {
    let made = match nack {
        Some(id) => Value::Event(Arc::new(Event::Nacked(id, made))),
        None => made,
    };
    replace(event, &mut Some(made))
}

fn replace(value: &Value, made: &mut Option<Value>) -> Value {
    let Value::Event(event) = value else { return value.clone() };
    let new = match &**event {
        Event::Guard(_) | Event::WithNack(_) => return made.take().unwrap_or_else(|| value.clone()),
        Event::Wrap(inner, f) => Event::Wrap(replace(inner, made), f.clone()),
        Event::Nacked(id, inner) => Event::Nacked(*id, replace(inner, made)),
        Event::Choose(all) => Event::Choose(all.iter().map(|one| replace(one, made)).collect()),
        _ => return value.clone(),
    };
    Value::Event(Arc::new(new))
}

/// The place of the `n`-th of a choice at `place`: a branch's place says which way leads to it.
pub fn place(of: u64, n: usize) -> u64 {
    of.wrapping_mul(61).wrapping_add(n as u64 + 1)
}

/// What a synchronisation offers; `None` if this is no event, or one that the machine has no rule for.
pub fn offers(event: &Value) -> Option<Offers> {
    let mut offers = Offers { branches: Vec::new(), nacks: Vec::new() };
    collect(event, 0, &mut Vec::new(), &mut Vec::new(), &mut offers)?;
    Some(offers)
}

fn collect(
    value: &Value,
    at: u64,
    wraps: &mut Vec<Value>,
    nacks: &mut Vec<Made>,
    to: &mut Offers,
) -> Option<()> {
    let Value::Event(event) = value else { return None };
    let base = match &**event {
        Event::Wrap(inner, f) => {
            wraps.push(f.clone());
            collect(inner, at, wraps, nacks, to)?;
            wraps.pop();
            return Some(());
        }
        Event::Nacked(id, inner) => {
            to.nacks.push(*id);
            nacks.push(*id);
            collect(inner, at, wraps, nacks, to)?;
            nacks.pop();
            return Some(());
        }
        Event::Choose(all) => {
            return all
                .iter()
                .enumerate()
                .try_for_each(|(n, one)| collect(one, place(at, n), wraps, nacks, to));
        }
        Event::Never => return Some(()),
        Event::Send(c, v) => Base::Send(*c, v.clone()),
        Event::Recv(c) => Base::Recv(*c),
        Event::Always(v) => Base::Always(v.clone()),
        Event::Nack(id) => Base::Nack(*id),
        Event::Pending(name) => Base::Pending(*name),
        _ => return None,
    };
    to.branches.push(Branch { place: at, base, wraps: wraps.clone(), nacks: nacks.clone() });
    Some(())
}

/// The parts of a `chooseAll` below its wraps, and the functions of these, the outermost first; `None` for others.
pub fn all_of(event: &Value) -> Option<(Arc<[Value]>, Vec<Value>)> {
    let (mut at, mut wraps) = (event, Vec::new());
    while let Value::Event(event) = at {
        match &**event {
            Event::ChooseAll(parts) => return Some((parts.clone(), wraps)),
            Event::Wrap(inner, f) => {
                wraps.push(f.clone());
                at = inner;
            }
            _ => return None,
        }
    }
    None
}

/// An asynchronous event taken apart: the event, and the functions of its `aWrap`s (the outermost first) and `sWrap`s
/// (the innermost first, as they run).
pub fn asynchronous(event: &Value) -> (&Value, Vec<Value>, Vec<Value>) {
    let (mut at, mut a_wraps, mut s_wraps) = (event, Vec::new(), Vec::new());
    while let Value::Event(event) = at {
        match &**event {
            Event::AWrap(inner, f) => {
                a_wraps.push(f.clone());
                at = inner;
            }
            Event::SWrap(inner, f) => {
                s_wraps.insert(0, f.clone());
                at = inner;
            }
            _ => break,
        }
    }
    (at, a_wraps, s_wraps)
}
