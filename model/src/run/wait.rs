//! What a computation waits in, in blocking code and in async code.

use super::computation::Computation;
use super::world::Message;
use super::{Fault, Out, Over, event};
use crate::machine::events::all_of;
use crate::names::Made;
use crate::outcome::Block;
use crate::syntax::{Env, Exp, Value};
use lamprey::event::{AsyncEvent, Event};
use lamprey::parasite::{Parasite, reify};
use lamprey::{Receiver, Sender};
use std::sync::Arc;

/// An operation that may wait.
pub enum Wait {
    /// `send(c, v)`
    Send(Made, Value),
    /// `recv(c)`
    Recv(Made),
    /// `sync(event)`
    Sync(Value),
    /// `reify(f)`
    Reify(Value),
    /// `inflate(e)`, whose evaluation goes on
    Inflate(Exp, Env),
}

/// Performs it in blocking code.
pub fn blocking(me: &Arc<Computation>, wait: Wait) -> Out {
    match wait {
        Wait::Send(c, value) => {
            let (tx, message) = sends(me, c, value)?;
            if me.world.fault == Fault::SendNothing {
                return sent(me, &tx, None);
            }
            let again = (me.world.fault == Fault::SendTwice).then(|| message.clone());
            tx.send(message).map_err(|_| Over)?;
            sent(me, &tx, again)
        }
        Wait::Recv(c) => {
            let (rx, op) = receives(me, c)?;
            received(me, op, rx.recv().map_err(|_| Over)?)
        }
        Wait::Sync(event) => event::build(me, &event, syncs(me, &event)?).sync(),
        Wait::Reify(f) => {
            let store = reifies(me, f)?;
            resumed(me, reify(store).sync())
        }
        Wait::Inflate(..) => Err(Over),
    }
}

/// Performs it in async code.
pub async fn awaiting(me: &Arc<Computation>, wait: Wait) -> Out {
    match wait {
        Wait::Send(c, value) => {
            let (tx, message) = sends(me, c, value)?;
            tx.send_async(message).await.map_err(|_| Over)?;
            sent(me, &tx, None)
        }
        Wait::Recv(c) => {
            let (rx, op) = receives(me, c)?;
            received(me, op, rx.recv_async().await.map_err(|_| Over)?)
        }
        Wait::Sync(event) => {
            let event = event::build(me, &event, syncs(me, &event)?);
            event.await
        }
        Wait::Reify(f) => {
            let store = reifies(me, f)?;
            resumed(me, reify(store).await)
        }
        Wait::Inflate(..) => Err(Over),
    }
}

fn sends(me: &Computation, c: Made, value: Value) -> Result<(Sender<Message>, Message), Over> {
    let op = me.blocks(Block::Send(c))?;
    let tx = me.world.open()?.channel(c).ok_or(Over)?.0.clone();
    Ok((tx, Message { value, from: (op, 0) }))
}

fn sent(me: &Computation, tx: &Sender<Message>, again: Option<Message>) -> Out {
    if let Some(message) = again {
        let ((), implicit) = tx.a_send_evt(message).a_sync();
        drop(implicit);
    }
    me.runs();
    Ok(Value::Unit)
}

fn receives(me: &Computation, c: Made) -> Result<(Receiver<Message>, Made), Over> {
    let op = me.blocks(Block::Recv(c))?;
    let rx = me.world.open()?.channel(c).ok_or(Over)?.1.clone();
    Ok((rx, op))
}

fn received(me: &Computation, op: Made, message: Message) -> Out {
    me.world.books().received(message.from, (op, 0));
    me.runs();
    Ok(message.value)
}

fn syncs(me: &Computation, event: &Value) -> Result<Made, Over> {
    me.blocks(if all_of(event).is_some() { Block::ChooseAll } else { Block::Sync })
}

/// The function of a `reify` that passes the parasite to the program's.
fn reifies(me: &Arc<Computation>, f: Value) -> Result<impl FnOnce(Parasite<Value>) + use<>, Over> {
    let (inner, id) = (me.inner()?, me.make());
    me.blocks(Block::Reify)?;
    Ok(move |parasite| {
        inner.world.books().reified.push((id, parasite));
        let _nothing = inner.apply(vec![f], Value::Par(id));
    })
}

fn resumed(me: &Computation, value: Value) -> Out {
    me.runs();
    Ok(value)
}
