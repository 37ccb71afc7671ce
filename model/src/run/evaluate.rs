//! The evaluation of a computation: local rules, and what waits for nobody.

use super::computation::Computation;
use super::wait::{self, Wait};
use super::{Fault, Out, Over, event};
use crate::machine::domains::{Config, Frame, Stack};
use crate::machine::local;
use crate::machine::rule::Tally;
use crate::names::Made;
use crate::outcome::End;
use crate::syntax::{Node, Op, Value};
use lamprey::parasite::ReadyParasite;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;

/// Where the evaluation stops.
enum Stop {
    /// It is over.
    Done(Value),
    /// It waits; the stack is without the frame that says so.
    Wait(Wait, Stack),
}

/// Evaluates in blocking code: in hosts, stackful parasites and the functions of events.
pub fn blocking(me: &Arc<Computation>, mut config: Config) -> Out {
    loop {
        let (wait, k) = match run(me, config)? {
            Stop::Done(value) => return Ok(value),
            Stop::Wait(wait, k) => (wait, k),
        };
        if let Wait::Inflate(e, r) = wait {
            lamprey::parasite::inflate().sync();
            config = Config::Control(e, r, k);
            continue;
        }
        let reifies = matches!(wait, Wait::Reify(_));
        let value = wait::blocking(me, wait)?;
        config = Config::Return(k.with(Frame::Ret(value)));
        if reifies && me.world.fault == Fault::ResumeTwice {
            let (me, again) = (me.clone(), config.clone());
            lamprey::spawn(move || blocking(&me, again));
        }
    }
}

/// Evaluates in async code: in stackless parasites.
pub async fn awaiting(me: &Arc<Computation>, mut config: Config) -> Out {
    loop {
        let (wait, k) = match run(me, config)? {
            Stop::Done(value) => return Ok(value),
            Stop::Wait(wait, k) => (wait, k),
        };
        config = match wait {
            Wait::Inflate(e, r) => {
                lamprey::parasite::inflate().await;
                Config::Control(e, r, k)
            }
            wait => Config::Return(k.with(Frame::Ret(wait::awaiting(me, wait).await?))),
        };
    }
}

/// Evaluates as far as it waits for nobody.
fn run(me: &Arc<Computation>, mut config: Config) -> Result<Stop, Over> {
    let mut tally = Tally::default();
    loop {
        config = match local::step(config, &mut tally) {
            Continue(config) => config,
            Break(Config::Control(e, r, k)) => match &*e {
                Node::Chan => {
                    let c = me.make();
                    me.world.open()?.channels.push((c, lamprey::channel()));
                    give(k, Value::Chan(c))
                }
                Node::Spawn(body) => {
                    me.child()?.spawn(body.clone(), r);
                    give(k, Value::Unit)
                }
                Node::Parasite(_, body) if me.world.replaces => {
                    me.child()?.spawn(body.clone(), r);
                    give(k, Value::Unit)
                }
                Node::Parasite(kind, body) => {
                    me.child()?.parasite(*kind, body.clone(), r);
                    give(k, Value::Unit)
                }
                Node::Inflate(body) => {
                    me.make(); // the machine's name of the new thread
                    return Ok(Stop::Wait(Wait::Inflate(body.clone(), r), k));
                }
                _ => return Err(stuck(me)),
            },
            Break(Config::Return(mut k)) => match k.frames.pop() {
                Some(Frame::Ret(value)) if k.frames.is_empty() => return Ok(Stop::Done(value)),
                Some(Frame::SBlock(c, v)) => return Ok(Stop::Wait(Wait::Send(c, v), k)),
                Some(Frame::RBlock(c)) => return Ok(Stop::Wait(Wait::Recv(c), k)),
                Some(Frame::Todo(op, values)) => match (op, &values[..]) {
                    (Op::Sync, [event]) => return Ok(Stop::Wait(Wait::Sync(event.clone()), k)),
                    (Op::Reify, [f]) => return Ok(Stop::Wait(Wait::Reify(f.clone()), k)),
                    _ => give(k, at_once(me, op, &values)?),
                },
                _ => return Err(stuck(me)),
            },
        };
    }
}

fn give(k: Stack, value: Value) -> Config {
    Config::Return(k.with(Frame::Ret(value)))
}

/// No rule applies.
fn stuck(me: &Computation) -> Over {
    me.set(Some(End::Stuck));
    Over
}

fn at_once(me: &Arc<Computation>, op: Op, values: &[Value]) -> Out {
    match (op, values) {
        (Op::Prepare, [Value::Par(id), value]) => prepare(me, *id, value.clone()),
        (Op::Attach, [Value::Ready(id)]) => {
            if let Some(ready) = take_ready(me, *id)? {
                ready.attach();
            }
            Ok(Value::Unit)
        }
        (Op::SpawnReady, [Value::Ready(id)]) => {
            me.make(); // the machine's name of the new thread
            if let Some(ready) = take_ready(me, *id)? {
                ready.spawn();
            }
            Ok(Value::Unit)
        }
        (Op::ASync, [event]) => event::begin(me, event),
        _ => Err(stuck(me)),
    }
}

fn prepare(me: &Arc<Computation>, id: Made, value: Value) -> Out {
    let parasite = {
        let mut books = me.world.open()?;
        let found = books.reified.iter().position(|(of, _)| *of == id);
        let parasite = found.map(|at| books.reified.swap_remove(at).1);
        books.prepared.push((me.op(), parasite.is_some()));
        books.version += 1;
        parasite
    };
    me.count();
    if let Some(parasite) = parasite {
        let ready = parasite.prepare(value);
        me.world.open()?.ready.push((id, ready));
    }
    Ok(Value::Ready(id))
}

fn take_ready(me: &Computation, id: Made) -> Result<Option<ReadyParasite>, Over> {
    let mut books = me.world.open()?;
    if me.world.fault == Fault::ForgetAttach {
        return Ok(None);
    }
    let found = books.ready.iter().position(|(of, _)| *of == id);
    Ok(found.map(|at| books.ready.swap_remove(at).1))
}
