//! Programs and values as text.

use crate::syntax::{Event, Exp, Kind, Node, Op, Value};
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Exp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(self, 0, f)
    }
}

/// A line break, indented.
fn line(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    f.write_char('\n')?;
    (0..depth).try_for_each(|_| f.write_str("  "))
}

fn print(e: &Exp, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    match &**e {
        Node::Var(x) => write!(f, "x{x}"),
        Node::Unit => f.write_str("unit"),
        Node::Const(number) => write!(f, "{number}"),
        Node::Chan => f.write_str("Chan()"),
        Node::Lam(x, body) => {
            write!(f, "(λx{x}. ")?;
            print(body, depth + 1, f)?;
            f.write_char(')')
        }
        Node::App(function, argument) => match &**function {
            Node::Lam(x, then) => {
                write!(f, "let x{x} = ")?;
                print(argument, depth + 1, f)?;
                f.write_str(" in")?;
                line(f, depth)?;
                print(then, depth, f)
            }
            _ => call("", &[function, argument], depth, f),
        },
        Node::Spawn(body) => block("spawn", body, depth, f),
        Node::Parasite(Kind::Stackful, body) => block("parasiteSpawn", body, depth, f),
        Node::Parasite(Kind::Stackless, body) => block("parasiteSpawn[future]", body, depth, f),
        Node::Inflate(body) => block("inflate", body, depth, f),
        Node::Send(c, v) => call("send", &[c, v], depth, f),
        Node::Recv(c) => call("recv", &[c], depth, f),
        Node::Op(op, of) => call(name(*op), &of.iter().collect::<Vec<_>>(), depth, f),
    }
}

fn block(name: &str, body: &Exp, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{name}(")?;
    if matches!(**body, Node::App(..)) {
        line(f, depth + 1)?;
    }
    print(body, depth + 1, f)?;
    f.write_char(')')
}

fn call(name: &str, of: &[&Exp], depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{name}(")?;
    for (n, one) in of.iter().enumerate() {
        f.write_str(if n == 0 { "" } else { ", " })?;
        print(one, depth + 1, f)?;
    }
    f.write_char(')')
}

/// The papers' name of an operation.
fn name(op: Op) -> &'static str {
    match op {
        Op::Reify => "reify",
        Op::Prepare => "prepare",
        Op::Attach => "attach",
        Op::SpawnReady => "spawnAttach",
        Op::Sync => "sync",
        Op::ASync => "aSync",
        Op::SendEvt => "sendEvt",
        Op::RecvEvt => "recvEvt",
        Op::AlwaysEvt => "alwaysEvt",
        Op::NeverEvt => "never",
        Op::Wrap => "wrap",
        Op::Guard => "guard",
        Op::WithNack => "withNack",
        Op::Choose => "choose",
        Op::ChooseAll => "chooseAll",
        Op::AWrap => "aWrap",
        Op::SWrap => "sWrap",
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("unit"),
            Self::Const(number) => write!(f, "{number}"),
            Self::Closure(..) => f.write_str("λ"),
            Self::Chan(c) => write!(f, "channel {c}"),
            Self::Par(id) => write!(f, "parasite {id}"),
            Self::Ready(id) => write!(f, "ready parasite {id}"),
            Self::Event(event) => match &**event {
                Event::Pending(name) => write!(f, "result of {name}"),
                Event::Nack(id) => write!(f, "nack {id}"),
                _ => f.write_str("event"),
            },
            Self::List(all) => f.debug_list().entries(all.iter().map(ToString::to_string)).finish(),
        }
    }
}
