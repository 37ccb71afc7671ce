//! `choose_all`: all of several events, in the time of the slowest (Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
//! *Lightweight Asynchrony Using Parasitic Threads*, 2011, 1 and 2.3.2).
//!
//! # Two phases
//! 1. Until the first part has happened, this is an ordinary choice: all parts are offered on behalf of the
//!    outer choice, and lose with it.
//! 2. After that, each remaining part is synchronised on separately, with its own choice, all at the same
//!    time ([`All`], in `rest`). [`Branch::finish`] waits for that. A `choose_all` alone begins here, in every form of a
//!    synchronisation without a limit ([`Steps::is_all`]): its parts may then meet each other, as the paper's do.
//!
//! # Checked by
//! `model::choice_all` (loom: this code, with plain parts and others; broken variants of the hub),
//! `tests/event/choose_all.rs`, `tests/cancel/choice.rs`.
//!
//! # Rejected
//! * The paper's form, a parasite for each part (`examples/choose_all.rs` has it). A part's code would run on
//!   the stack of the thread that sends to it, and a wrap that answers that sender would wait for it for
//!   ever; parts that borrow would have to be ended synchronously on another worker. The benefit of the
//!   parasites, one wake for all parts, is provided by the hub.

mod hub;
mod rest;

use self::rest::All;
use super::group::{Events, Group};
use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use crate::sched;
use crate::sched::parts::Told;
use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::Instant;

/// All of `events`, in any order; returns their results in the order of `events`. Takes a tuple, an array or
/// a `Vec`.
///
/// A synchronisation on it alone ([`sync`](Event::sync), or as a future; also boxed, wrapped, in a guard, or within
/// another `choose_all`) waits until all events have happened: it takes the time of the slowest, and wakes the caller
/// once for all events that have no functions to run. Its events may meet each other. As a branch of a
/// [`choose`](super::choose), or under a time limit ([`sync_timeout`](Event::sync_timeout),
/// [`poll`](Event::poll)), it **commits with the first of its events that happens**: until then it can lose,
/// and no communication has happened; after that it is chosen, and its other events are waited for without a
/// limit.
///
/// The `wrap`s of its events run on the caller, one after the other, each as soon as its event has happened, while the
/// others are still waited for: a `wrap` may block until the peer of another event has gone on. (Each costs a wake, and
/// a look at all events. Thousands of events are cheaper without.) A [`Nack`](crate::event::Nack) in it fires if the
/// `choose_all` is not chosen, or if the caller is cancelled before that part has happened.
///
/// # Examples
/// ```
/// use lamprey::event::{Event, choose_all};
///
/// lamprey::run(|| {
///     let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| lamprey::channel()).unzip();
///     for (n, tx) in senders.into_iter().enumerate().rev() {
///         lamprey::spawn(move || tx.send(n * n).unwrap());
///     }
///     let all = choose_all(receivers.iter().map(|rx| rx.recv_evt()).collect::<Vec<_>>());
///     assert_eq!(all.sync(), [Ok(0), Ok(1), Ok(4)]);
/// });
/// ```
///
/// # Cancellation
/// The commit point is the last event. A caller that is cancelled before that withdraws the events that have
/// not happened, and unwinds (as a future, it is dropped). Values that receives have got by then go back into
/// their channels; what has been sent, or has gone through a `wrap`, has happened. If all events have
/// happened by then, the results are returned, and the caller unwinds at its next blocking call.
#[doc(alias = "join")]
#[doc(alias = "join_all")]
pub fn choose_all<G: Events>(events: G) -> ChooseAll<G> {
    ChooseAll(events)
}

/// The event that [`choose_all`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct ChooseAll<G>(G);

awaitable!({G: Events} ChooseAll<G>, Vec<G::Output>);

impl<G: Events> Event for ChooseAll<G> {
    type Branch = AllOf<G::Group>;

    fn branch(self) -> Self::Branch {
        AllOf { all: Box::new(All::new(self.0.branches())), winner: Cell::new(NONE) }
    }

    /// Alone, it starts with phase 2.
    fn sync(self) -> Vec<G::Output> {
        sched::coop::turn();
        All::new(self.0.branches()).block()
    }
}

/// No part.
const NONE: usize = usize::MAX;

/// The branch of a [`ChooseAll`].
pub struct AllOf<G: Group> {
    all: Box<All<G>>,
    /// The part that has happened first, once one has; before that [`NONE`].
    winner: Cell<usize>,
}

impl<G: Group> AllOf<G> {
    fn find(&self, does: impl FnMut(&usize) -> bool) -> bool {
        let found = (0..self.all.len()).find(does);
        found.inspect(|&at| self.winner.set(at)).is_some()
    }
}

impl<G: Group> Steps for AllOf<G> {
    fn attempt(&self, mut context: Option<&mut Context<'_>>) -> bool {
        self.find(|&at| self.all.group.attempt(at, context.as_deref_mut())) || self.all.len() == 0
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        for at in 0..self.all.len() {
            // SAFETY: as promised by the caller.
            match unsafe { self.all.group.offer(at, choice) } {
                Offered::Waiting => {}
                Offered::Won => {
                    self.winner.set(at);
                    return Offered::Won;
                }
                Offered::Lost => return Offered::Lost,
            }
        }
        Offered::Waiting
    }

    fn withdraw(&self) -> bool {
        let mut won = false;
        for at in 0..self.all.len() {
            if self.all.group.withdraw(at) {
                self.winner.set(at);
                won = true;
            }
        }
        won
    }

    fn decide(&self, won: bool) {
        match won {
            true if self.winner.get() == NONE => {}
            true => self.all.won(self.winner.get()),
            false => (0..self.all.len()).for_each(|at| self.all.group.decide(at, false)),
        }
    }

    fn polls(&self) -> Polls {
        (0..self.all.len()).map(|at| self.all.group.polls(at)).max().unwrap_or(Polls::Never)
    }

    fn parts(&self) -> usize {
        (0..self.all.len()).map(|at| self.all.group.parts(at)).sum()
    }

    fn deadline(&self) -> Option<Instant> {
        (0..self.all.len()).filter_map(|at| self.all.group.deadline(at)).min()
    }

    fn begin_rest(&self, context: &mut Context<'_>) {
        self.all.begin_all(context);
    }

    fn settle_rest(&self) -> bool {
        self.all.settle_parts()
    }

    fn is_all(&self) -> bool {
        true
    }

    fn is_refused(&self) -> bool {
        self.winner.get() != NONE && self.all.group.is_refused(self.winner.get())
    }

    fn tell(&self, told: &mut Told<'_>) {
        (0..self.all.len()).for_each(|at| self.all.group.tell(at, told));
    }

    fn refuse(&self) -> bool {
        self.find(|&at| self.all.group.refuse(at)) || self.all.len() == 0
    }

    fn is_prompt(&self) -> bool {
        true
    }
}

impl<G: Group> Branch for AllOf<G> {
    type Output = Vec<G::Output>;

    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<Self::Output> {
        match context {
            Some(context) => self.all.poll(context),
            None => Poll::Ready(self.all.block()),
        }
    }
}
