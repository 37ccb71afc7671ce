//! Builds the events of a program.

use crate::act::{got, task};
use crate::class::Class;
use crate::ledger::Tracked as T;
use crate::program::{Act, Body, Evt, NackUse, What};
use crate::run::{Context, run};
use crate::world::{Borrowed, Kept, World};
use lamprey::event::{
    BoxedEvent, Event, always, choose, choose_all, future_evt, guard, never, prefer, timeout, with_nack,
};
use std::sync::Arc;
use std::time::Duration;

/// The values that have been sent when the event has happened.
pub type Sent = Vec<u32>;

/// Whether each value of the event is known to be sent or not, however the synchronisation ends: no code of
/// the program runs between the choice and its return.
pub fn is_exact(evt: &Evt) -> bool {
    match evt {
        Evt::Act(act) => act.script.is_none() && matches!(act.what, What::Send | What::Recv),
        Evt::Timeout(_) | Evt::Never | Evt::Always(None) => true,
        Evt::Choose(all) | Evt::Prefer(all) => all.iter().all(is_exact),
        Evt::Nack(NackUse::Drop, inner) => is_exact(inner),
        _ => false,
    }
}

/// Whether it may wait without a limit, whatever its caller says: for the remaining parts of a `choose_all`
/// after one part has happened.
pub fn is_endless(evt: &Evt) -> bool {
    match evt {
        Evt::All(_) => true,
        Evt::Choose(all) | Evt::Prefer(all) => all.iter().any(is_endless),
        Evt::Guard(_, inner) | Evt::Nack(_, inner) | Evt::Wrap(_, inner) => is_endless(inner),
        _ => false,
    }
}

/// Builds an event on the world; the values that it offers are added to `offers`.
pub fn build<'a>(context: &'a Context, evt: &'a Evt, offers: &mut Vec<u32>) -> BoxedEvent<'a, Sent> {
    let exact = is_exact(evt) && context.world.program.classes.has(Class::ChoiceCommits);
    Builder { context, exact, in_poll: false }.evt(evt, offers)
}

/// The same for a future: a dropped future may have been handed a value, so nothing is exact.
pub fn build_for_future<'a>(context: &'a Context, evt: &'a Evt) -> BoxedEvent<'a, Sent> {
    Builder { context, exact: false, in_poll: true }.evt(evt, &mut Vec::new())
}

struct Builder<'a> {
    context: &'a Context,
    exact: bool,
    /// Guards and wraps run in a poll, where a wait cannot be cancelled.
    in_poll: bool,
}

impl<'a> Builder<'a> {
    fn world(&self) -> &'a Arc<World> {
        &self.context.world
    }

    fn all(&self, all: &'a [Evt], offers: &mut Vec<u32>) -> Vec<BoxedEvent<'a, Sent>> {
        all.iter().map(|evt| self.evt(evt, offers)).collect()
    }

    fn script(&self, body: &Body) -> impl FnOnce() + Send + use<> {
        let context = if self.in_poll { self.context.limited() } else { self.context.clone() };
        let body = body.clone();
        move || run(&context, &body)
    }

    fn evt(&self, evt: &'a Evt, offers: &mut Vec<u32>) -> BoxedEvent<'a, Sent> {
        match evt {
            Evt::Act(act) => self.act(*act, offers),
            Evt::Timeout(n) => {
                timeout(Duration::from_micros(u64::from(*n) * 20)).wrap(|()| Sent::new()).boxed()
            }
            Evt::Always(script) => always(T::new(self.world(), *script)).wrap(nothing).boxed(),
            Evt::Never => never().boxed(),
            Evt::Choose(all) => choose(self.all(all, offers)).boxed(),
            Evt::Prefer(all) => prefer(self.all(all, offers)).boxed(),
            Evt::All(all) => choose_all(self.all(all, offers)).wrap(|all| all.concat()).boxed(),
            Evt::Guard(body, inner) => {
                let (script, inner) = (self.script(body), self.evt(inner, offers));
                let make = move || {
                    script();
                    inner
                };
                guard(make).boxed()
            }
            Evt::Wrap(body, inner) => {
                let script = self.script(body);
                let then = move |sent| {
                    script();
                    sent
                };
                self.evt(inner, offers).wrap(then).boxed()
            }
            Evt::Nack(used, inner) => {
                let (used, inner, world) = (*used, self.evt(inner, offers), self.world());
                let make = move |nack: lamprey::event::Nack| {
                    if matches!(used, NackUse::Wait) {
                        world.futures.put(Box::pin(async move { nack.await }));
                    }
                    inner
                };
                with_nack(make).boxed()
            }
            Evt::Joined => self.joined(),
        }
    }

    fn joined(&self) -> BoxedEvent<'a, Sent> {
        let mut kept = Borrowed::of(&self.world().kept);
        let ended = async move {
            match &mut kept.1 {
                Some(Kept::Host(handle)) if !handle.is_finished() => drop(handle.await),
                Some(Kept::Parasite(handle)) if !handle.is_finished() => drop(handle.await),
                _ => {}
            }
            drop(kept.1.take()); // it has been polled to its end
        };
        future_evt(ended).wrap(|()| Sent::new()).boxed()
    }

    fn act(&self, act: Act, offers: &mut Vec<u32>) -> BoxedEvent<'a, Sent> {
        let (w, on) = (self.world(), usize::from(act.on));
        let value = || T::new(w, act.script);
        let channel = if self.exact { on % 3 } else { 1 + on % 2 };
        let (tx, rx) = &w.channels[channel];
        match act.what {
            What::Send => {
                let value = value();
                let id = value.id();
                offers.push(id);
                let sent = move |sent: Result<(), lamprey::SendError<T>>| {
                    if sent.is_err() {
                        return Sent::new();
                    }
                    if channel == 0 {
                        w.ledger.sent(id);
                    }
                    vec![id]
                };
                if act.on & 8 == 0 {
                    tx.send_evt(value).wrap(sent).boxed()
                } else {
                    tx.clone().into_send_evt(value).wrap(sent).boxed()
                }
            }
            What::Recv => rx.recv_evt().wrap(received).boxed(),
            What::BoundedSend => w.bounded[on % 2].0.send_evt(value()).wrap(nothing).boxed(),
            What::BoundedRecv => w.bounded[on % 2].1.recv_evt().wrap(received).boxed(),
            // After it has met its peer it waits for an answer.
            What::Call if !self.context.blocks => never().boxed(),
            What::Call => w.client.call_evt(value()).wrap(received).boxed(),
            What::Swap => w.swap.swap_evt(value()).wrap(got).wrap(nothing).boxed(),
            What::IGet => w.ivars[on % 2].get_evt().wrap(nothing).boxed(),
            What::MPut => w.mvar.put_evt(value()).wrap(nothing).boxed(),
            What::MTake => w.mvar.take_evt().wrap(received).boxed(),
            What::MSwap => w.mvar.swap_evt(value()).wrap(received).boxed(),
            What::MRead => w.mvar.read_evt().wrap(nothing).boxed(),
            What::Lock => {
                let value = value();
                let put = move |guard: Result<lamprey::sync::MutexGuard<'_, T>, _>| {
                    if let Ok(mut guard) = guard {
                        *guard = value;
                    }
                    Sent::new()
                };
                w.mutexes[on % 4].lock_evt().wrap(put).boxed()
            }
            What::Read => w.rwlocks[on % 2].read_evt().wrap(nothing).boxed(),
            What::Write => w.rwlocks[on % 2].write_evt().wrap(nothing).boxed(),
            What::Permit => w.semaphore.acquire_evt(1).wrap(nothing).boxed(),
            What::Barrier => w.barrier.wait_evt().wrap(nothing).boxed(),
            What::Once => w.once.wait_evt().wrap(nothing).boxed(),
            What::Cell => w.cell.wait_evt().wrap(nothing).boxed(),
            What::TokenWait => w.tokens[on % 3].wait_evt().wrap(nothing).boxed(),
            _ => future_evt(task(w, act)).wrap(nothing).boxed(),
        }
    }
}

fn nothing<V>(_: V) -> Sent {
    Sent::new()
}

fn received<E>(value: Result<T, E>) -> Sent {
    value.into_iter().for_each(got);
    Sent::new()
}
