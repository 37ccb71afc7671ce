//! Figure 7: the rules that one computation takes alone. They are functions of ⟨e,r,k⟩ or k; the other stacks of the
//! thread (k̄) stay as they are in all of them. The program on the runtime is evaluated by these functions, too: what
//! Lamprey is held against are the rules of the other files.

use super::domains::{Config, Frame, Stack};
use super::rule::{Rule, Tally};
use crate::syntax::{Env, Exp, Node, Value};
use std::ops::ControlFlow::{self, Break, Continue};

/// Takes a rule and continues; or breaks with a configuration to which none of this file applies.
pub fn step(config: Config, tally: &mut Tally) -> ControlFlow<Config, Config> {
    match config {
        Config::Control(e, r, k) => control(e, r, k, tally),
        Config::Return(k) => ret(k, tally),
    }
}

/// Control transitions.
fn control(e: Exp, r: Env, k: Stack, tally: &mut Tally) -> ControlFlow<Config, Config> {
    let (rule, next) = match &*e {
        Node::Const(_) | Node::Unit => (Rule::Constant, constant(&e, k)),
        Node::Var(x) => match r.get(*x) {
            Some(value) => (Rule::Variable, variable(value.clone(), k)),
            None => return Break(Config::Control(e, r, k)),
        },
        Node::Lam(x, body) => (Rule::Closure, closure(*x, body, &r, k)),
        Node::App(e1, e2) => (Rule::Application, application(e1, e2, r, k)),
        Node::Send(e1, e2) => (Rule::Send, send(e1, e2, r, k)),
        Node::Recv(of) => (Rule::Receive, receive(of, r, k)),
        Node::Op(..) => (Rule::Operands, operands(&e, r, k)),
        Node::Spawn(_) | Node::Parasite(..) | Node::Chan | Node::Inflate(_) => {
            return Break(Config::Control(e, r, k));
        }
    };
    tally.fire(rule);
    Continue(next)
}

/// (Constant) ⟨κ,r,k⟩ → ⟨ret⌈κ⌉ : k⟩
fn constant(e: &Exp, k: Stack) -> Config {
    let value = if let Node::Const(number) = **e { Value::Const(number) } else { Value::Unit };
    Config::Return(k.with(Frame::Ret(value)))
}

/// (Variable) ⟨x,r,k⟩ → ⟨ret⌈r(x)⌉ : k⟩
fn variable(value: Value, k: Stack) -> Config {
    Config::Return(k.with(Frame::Ret(value)))
}

/// (Closure) ⟨λx.e,r,k⟩ → ⟨ret⌈λx.e,r⌉ : k⟩
fn closure(x: u16, body: &Exp, r: &Env, k: Stack) -> Config {
    Config::Return(k.with(Frame::Ret(Value::Closure(x, body.clone(), r.clone()))))
}

/// (Application) ⟨(e1 e2),r,k⟩ → ⟨e1,r,arg⌈e2,r⌉ : k⟩
fn application(e1: &Exp, e2: &Exp, r: Env, k: Stack) -> Config {
    let k = k.with(Frame::Arg(e2.clone(), r.clone()));
    Config::Control(e1.clone(), r, k)
}

/// (Send) ⟨send(e1,e2),r,k⟩ → ⟨e1,r,sval⌈e2,r⌉ : k⟩
fn send(e1: &Exp, e2: &Exp, r: Env, k: Stack) -> Config {
    let k = k.with(Frame::SVal(e2.clone(), r.clone()));
    Config::Control(e1.clone(), r, k)
}

/// (Receive) ⟨recv(e),r,k⟩ → ⟨e,r,recv⌈⌉ : k⟩
fn receive(e: &Exp, r: Env, k: Stack) -> Config {
    Config::Control(e.clone(), r, k.with(Frame::Recv))
}

/// (Operands), ours: as (Send), for an operation with any number of operands.
fn operands(e: &Exp, r: Env, k: Stack) -> Config {
    let Node::Op(op, of) = &**e else { return Config::Control(e.clone(), r, k) };
    match of.first() {
        None => Config::Return(k.with(Frame::Todo(*op, Vec::new()))),
        Some(first) => {
            let k = k.with(Frame::Operands(*op, e.clone(), r.clone(), Vec::new()));
            Config::Control(first.clone(), r, k)
        }
    }
}

/// Return transitions.
fn ret(mut k: Stack, tally: &mut Tally) -> ControlFlow<Config, Config> {
    let n = k.frames.len();
    if let Some(Frame::Todo(op, values)) = k.frames.last() {
        if let Some(event) = super::events::construct(*op, values) {
            k.frames[n - 1] = Frame::Ret(event);
            return Continue(Config::Return(k));
        }
        return Break(Config::Return(k));
    }
    let [.., below, Frame::Ret(v)] = &k.frames[..] else { return Break(Config::Return(k)) };
    let rule = match (below, v) {
        (Frame::Arg(..), _) => Rule::Argument,
        (Frame::Fun(Value::Closure(..)), _) => Rule::Function,
        (Frame::SVal(..), Value::Chan(_)) => Rule::SendValue,
        (Frame::Send(_), _) => Rule::SendBlock,
        (Frame::Recv, Value::Chan(_)) => Rule::ReceiveBlock,
        (Frame::Operands(..), _) => Rule::Operands,
        (Frame::Guarded(..), Value::Event(_)) => Rule::Guard,
        (Frame::Created(_), _) => Rule::ASync,
        _ => return Break(Config::Return(k)),
    };
    tally.fire(rule);
    let (Some(Frame::Ret(v)), Some(below)) = (k.frames.pop(), k.frames.pop()) else {
        return Break(Config::Return(k));
    };
    Continue(resume(below, v, k))
}

/// What the frame below a value does with it.
fn resume(below: Frame, v: Value, k: Stack) -> Config {
    match (below, v) {
        // (Argument) ⟨ret⌈v⌉ : arg⌈e,r⌉ : k⟩ → ⟨e,r,fun⌈v⌉ : k⟩
        (Frame::Arg(e, r), v) => Config::Control(e, r, k.with(Frame::Fun(v))),
        // (Function) ⟨ret⌈v⌉ : fun⌈λx.e,r⌉ : k⟩ → ⟨e,r[x ↦ v],k⟩
        (Frame::Fun(Value::Closure(x, e, r)), v) => Config::Control(e, r.with(x, v), k),
        // (SendValue) ⟨ret⌈c⌉ : sval⌈e,r⌉ : k⟩ → ⟨e,r,send⌈c⌉ : k⟩
        (Frame::SVal(e, r), Value::Chan(c)) => Config::Control(e, r, k.with(Frame::Send(c))),
        // (SendBlock) ⟨ret⌈v⌉ : send⌈c⌉ : k⟩ → ⟨sblock⌈c,v⌉ : k⟩
        (Frame::Send(c), v) => Config::Return(k.with(Frame::SBlock(c, v))),
        // (ReceiveBlock) ⟨ret⌈c⌉ : recv⌈⌉ : k⟩ → ⟨rblock⌈c⌉ : k⟩
        (Frame::Recv, Value::Chan(c)) => Config::Return(k.with(Frame::RBlock(c))),
        // (Operands): the next one, or all are values.
        (Frame::Operands(op, e, r, mut values), v) => {
            values.push(v);
            let next = if let Node::Op(_, of) = &*e { of.get(values.len()).cloned() } else { None };
            match next {
                Some(next) => Config::Control(next, r.clone(), k.with(Frame::Operands(op, e, r, values))),
                None => Config::Return(k.with(Frame::Todo(op, values))),
            }
        }
        // (Guard), ours: the event that a guard has made takes its place.
        (Frame::Guarded(event, nack), v) => {
            let event = super::events::fill(&event, nack, v);
            Config::Return(k.with(Frame::Todo(crate::syntax::Op::Sync, vec![event])))
        }
        // (ASync), ours: the caller has the result as an event.
        (Frame::Created(pending), _) => Config::Return(k.with(Frame::Ret(pending))),
        (below, v) => Config::Return(k.with(below).with(Frame::Ret(v))),
    }
}
