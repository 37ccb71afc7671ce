//! The events of a program, made of Lamprey's.

use super::computation::Computation;
use super::world::{Kept, Message};
use super::{Fault, Out, Over};
use crate::machine::events::{all_of, asynchronous, place};
use crate::names::Made;
use crate::outcome::{Block, End};
use crate::syntax::{self, Value};
use lamprey::event::{AsyncEvent, BoxedEvent, Event, always, choose, choose_all, guard, never, with_nack};
use lamprey::{RecvError, SendError};
use std::sync::Arc;

type Evt = BoxedEvent<'static, Out>;

/// The event that `me` synchronises on in the operation `op`.
pub fn build(me: &Arc<Computation>, event: &Value, op: Made) -> Evt {
    match all_of(event) {
        Some((parts, wraps)) => all(me, &parts, wraps).unwrap_or_else(|Over| never().boxed()),
        None => one(me, event, op, 0),
    }
}

/// `chooseAll`: each part is a computation for the machine.
fn all(me: &Arc<Computation>, parts: &[Value], wraps: Vec<Value>) -> Result<Evt, Over> {
    let inner: Result<Vec<_>, _> = parts.iter().map(|_| me.inner()).collect();
    let parts = inner?.into_iter().zip(parts).map(|(inner, part)| one(&inner, part, inner.op(), 0));
    let me = me.clone();
    let gathered = choose_all(parts.collect::<Vec<_>>()).wrap(move |all| {
        let all: Result<Vec<Value>, Over> = all.into_iter().collect();
        let list = Value::List(all?.into());
        me.runs();
        me.apply(wraps, list)
    });
    Ok(gathered.boxed())
}

fn one(me: &Arc<Computation>, event: &Value, op: Made, at: u64) -> Evt {
    let Value::Event(event) = event else { return never().boxed() };
    let mine = me.clone();
    match &**event {
        syntax::Event::Send(c, v) => match me.world.books().channel(*c) {
            Some((tx, _)) => {
                let message = Message { value: v.clone(), from: (op, at) };
                tx.clone().into_send_evt(message).wrap(move |sent| mine.sent(sent)).boxed()
            }
            None => never().boxed(),
        },
        syntax::Event::Recv(c) => match me.world.books().channel(*c) {
            Some((_, rx)) => rx.clone().into_recv_evt().wrap(move |got| mine.received(got, (op, at))).boxed(),
            None => never().boxed(),
        },
        syntax::Event::Always(v) => always(v.clone()).wrap(move |v| mine.alone(Ok(v), op, at)).boxed(),
        syntax::Event::Wrap(inner, f) => {
            let f = f.clone();
            one(me, inner, op, at).wrap(move |out| mine.apply(vec![f], out?)).boxed()
        }
        syntax::Event::Choose(each) => {
            let branches = each.iter().enumerate().map(|(n, branch)| one(me, branch, op, place(at, n)));
            choose(branches.collect::<Vec<_>>()).boxed()
        }
        syntax::Event::Guard(f) => {
            let f = f.clone();
            let make = move || match mine.apply(vec![f], Value::Unit) {
                Ok(event) => one(&mine, &event, op, at),
                Err(Over) => never().boxed(),
            };
            guard(make).boxed()
        }
        syntax::Event::WithNack(f) => nacked(mine, f.clone(), op, at),
        syntax::Event::Nack(id) => {
            let nack = me.world.books().nacks.iter().find(|(of, _)| of == id).map(|(_, nack)| nack.clone());
            match nack {
                Some(nack) => nack.wrap(move |()| mine.alone(Ok(Value::Unit), op, at)).boxed(),
                None => never().boxed(),
            }
        }
        syntax::Event::Pending(name) => pending(mine, *name, op, at),
        _ => never().boxed(),
    }
}

fn nacked(me: Arc<Computation>, f: Value, op: Made, at: u64) -> Evt {
    let make = move |nack| {
        let id = me.make();
        if me.world.fault != Fault::LoseNack {
            me.world.books().nacks.push((id, nack));
        }
        let nack = Value::Event(Arc::new(syntax::Event::Nack(id)));
        match me.apply(vec![f], nack) {
            Ok(event) => one(&me, &event, op, at),
            Err(Over) => never().boxed(),
        }
    };
    with_nack(make).boxed()
}

/// The result of an implicit thread, which is asked for once.
fn pending(me: Arc<Computation>, name: crate::names::Name, op: Made, at: u64) -> Evt {
    let taken = {
        let mut books = me.world.books();
        let found = books.begun.iter().position(|(of, ..)| *of == name);
        found.map(|n| books.begun.swap_remove(n))
    };
    match taken {
        Some((_, result)) => result.wrap(move |out| me.alone(out.unwrap_or(Err(Over)), op, at)).boxed(),
        None => never().boxed(),
    }
}

/// `aSync(event)`: the result as an event.
pub fn begin(me: &Arc<Computation>, event: &Value) -> Out {
    let name = me.bear()?;
    let (inner, a_wraps, s_wraps) = asynchronous(event);
    let is_plain = a_wraps.is_empty();
    me.make(); // the machine's place of it in the order of this computation's
    let waits = End::Blocked(0, Block::Sync);
    let slot = me.world.open()?.enter(name, Some(waits));
    let implicit = Computation::new(&me.world, name, Some(slot));
    let (mine, child) = (me.clone(), implicit.clone());
    let creation = move |()| drop(mine.apply(s_wraps, Value::Unit));
    let then = move |out: Out| child.ends(out.and_then(|value| child.apply(a_wraps, value)));
    let Value::Event(event) = inner else { return Err(Over) };
    let op = implicit.op();
    let channel = match &**event {
        syntax::Event::Send(c, _) | syntax::Event::Recv(c) => me.world.open()?.channel(*c).cloned(),
        _ => None,
    };
    let begun = match (&**event, channel) {
        (syntax::Event::Send(_, v), Some((tx, _))) => {
            let message = Message { value: v.clone(), from: (op, 0) };
            if me.world.fault == Fault::Overtake {
                let handle = lamprey::spawn(move || then(implicit.sent(tx.send(message))));
                me.world.books().kept.push((slot, Kept::Host(handle)));
                creation(());
                return Ok(Value::Event(Arc::new(syntax::Event::Pending(name))));
            }
            let end = move |sent| then(implicit.sent(sent));
            if is_plain {
                // What `a_send_evt` is, with a function that does not need a stack of its own.
                let sends = tx.into_send_evt(message).wrap(end).spawn_evt();
                sends.s_wrap(creation).a_sync().1
            } else {
                tx.a_send_evt(message).a_wrap(end).s_wrap(creation).a_sync().1
            }
        }
        (syntax::Event::Recv(_), Some((_, rx))) => {
            let receives = rx.a_recv_evt().a_wrap(move |got| then(implicit.received(got, (op, 0))));
            receives.s_wrap(creation).a_sync().1
        }
        _ => {
            let event = one(&implicit, inner, op, 0).spawn_evt().a_wrap(then);
            event.s_wrap(creation).a_sync().1
        }
    };
    me.world.open()?.begun.push((name, begun));
    Ok(Value::Event(Arc::new(syntax::Event::Pending(name))))
}

impl Computation {
    /// A send has returned.
    fn sent(&self, sent: Result<(), SendError<Message>>) -> Out {
        sent.map_err(|_| Over)?;
        self.runs();
        Ok(Value::Unit)
    }

    /// A receive has returned.
    fn received(&self, got: Result<Message, RecvError>, to: (Made, u64)) -> Out {
        let message = got.map_err(|_| Over)?;
        self.world.books().received(message.from, to);
        self.runs();
        Ok(message.value)
    }

    /// A branch that needs no partner has happened.
    fn alone(&self, out: Out, op: Made, at: u64) -> Out {
        let value = out?;
        let mut books = self.world.open()?;
        books.version += 1;
        books.alone.push((op, at));
        drop(books);
        self.runs();
        Ok(value)
    }
}
