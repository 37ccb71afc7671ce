//! `choose_all`: all of several events, in the time of the slowest (Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
//! *Lightweight Asynchrony Using Parasitic Threads*, 2011, 1 and 2.3.2).
//!
//! # Two phases
//! 1. Until the first part has happened, this is an ordinary choice: all parts are offered on behalf of the
//!    outer choice, and lose with it.
//! 2. After that, each remaining part is synchronised on separately, with its own choice, all at the same
//!    time ([`All`]). [`Branch::finish`] waits for that. A `choose_all` alone begins here, in every form of a
//!    synchronisation without a limit ([`Steps::is_all`]): its parts may then meet each other, as the paper's do.
//!
//! # States of a part (`Stage`), in phase 2
//! ```text
//! New --attempt, offer--> Won --finish--> Finished
//!  │ ↑                     ↑
//!  │ └─to be attempted──┐  │
//!  └────────offer────> Offered
//! ```
//!
//! # Invariants
//! 1. Offers of parts are out in the stage Offered only. Then `All` is in its box, or on the stack of the
//!    `sync` that it is all of, and stays there until it has withdrawn them.
//! 2. Parts that only wait ("plain") wake the caller once, when the last of them has won ([`hub`]). A part
//!    that needs the caller as soon as it has won (a wrap, a nack to be notified, a nested `choose_all`)
//!    wakes the caller at once.
//! 3. Plain parts are finished last, all together: if the caller is dropped, what they have received still
//!    goes back to the channel.
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

use self::hub::Wakers;
use super::group::{Events, Group};
use super::{Event, awaitable};
use crate::events::protocol::{Branch, Choice, ChoiceRef, Clock, Offered, Polls, Steps};
#[cfg(not(loom))]
use crate::parasite::wait_or;
use crate::sched;
use crate::sched::parts::Told;
#[cfg(loom)]
use crate::sched::worker::wait_or;
use std::cell::{Cell, OnceCell};
use std::future::poll_fn;
use std::marker::PhantomPinned;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// All of `events`, in any order; returns their results in the order of `events`. Takes a tuple, an array or
/// a `Vec`.
///
/// A synchronisation on it alone ([`sync`](Event::sync), or as a future; also boxed, wrapped or in a guard) waits until
/// all events have happened: it takes the time of the slowest, and wakes the caller once for all events that have no
/// functions to run. Its events may meet each other. As a branch of a
/// [`choose`](super::choose), or under a time limit ([`sync_timeout`](Event::sync_timeout),
/// [`poll`](Event::poll)), it **commits with the first of its events that happens**: until then it can lose,
/// and no communication has happened; after that it is chosen, and its other events are waited for without a
/// limit.
///
/// The `wrap`s of its events run on the caller, each as soon as its event has happened, while the others are
/// still waited for. A [`Nack`](crate::event::Nack) in it fires if the `choose_all` is not chosen, or if the
/// caller is cancelled before that part has happened.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Offered,
    /// During `drop`: it has won, and has not been notified.
    Untold,
    Won,
    Finished,
}

/// The state of one event in phase 2.
struct Part<T> {
    stage: Cell<Stage>,
    choice: Choice,
    output: Cell<Option<T>>,
}

/// Phase 2: all parts, each with its own choice.
struct All<G: Group> {
    parts: Box<[Part<G::Output>]>,
    group: G,
    /// Set from the first part on that has to wait.
    wakers: OnceCell<Wakers>,
    /// The plain parts have just been attempted.
    is_tried: Cell<bool>,
    clock: Clock,
    _pinned: PhantomPinned,
}

impl<G: Group> All<G> {
    fn new(group: G) -> Self {
        let new = |_| Part { stage: Cell::new(Stage::New), choice: Choice::new(), output: Cell::new(None) };
        let parts = (0..group.len()).map(new).collect();
        let (wakers, is_tried, clock) = (OnceCell::new(), Cell::new(false), Clock::default());
        Self { parts, group, wakers, is_tried, clock, _pinned: PhantomPinned }
    }

    fn len(&self) -> usize {
        self.parts.len()
    }

    /// Waits for all parts, as a thread.
    fn block(&self) -> Vec<G::Output> {
        if sched::must_not_block() {
            (0..self.len()).for_each(|at| self.refuse(at));
        }
        // First an attempt without wait nodes: often all parts are ready.
        for at in 0..self.len() {
            let is_new = self.parts[at].stage.get() == Stage::New;
            if is_new && self.is_plain(at) && self.group.attempt(at, None) {
                self.won(at);
            }
        }
        self.is_tried.set(true);
        if (0..self.len()).all(|at| self.is_over(at)) {
            return self.outputs(&mut Context::from_waker(Waker::noop()));
        }
        // For a host that unwinds: only what ends at a known time is left, such as a timeout.
        let is_bounded = (0..self.len()).all(|at| self.is_over(at) || self.group.deadline(at).is_some());
        wait_or(poll_fn(|context| self.poll(context)), is_bounded, |_| self.settle())
    }

    /// For a thread that is cancelled: withdraws the parts that have not happened. Returns the results if all
    /// have happened.
    fn settle(&self) -> Option<Vec<G::Output>> {
        for at in 0..self.len() {
            let part = &self.parts[at];
            if part.stage.get() == Stage::Offered {
                self.take_back(at);
            }
            let is_new = part.stage.get() == Stage::New;
            // Takes a result that is available without waiting, that of an asynchronous event.
            if is_new && self.group.polls(at) == Polls::Always && self.group.attempt(at, None) {
                self.won(at);
            }
        }
        let has_happened = |at: usize| match self.parts[at].stage.get() {
            Stage::New | Stage::Offered | Stage::Untold => false,
            Stage::Won => !self.group.is_refused(at),
            Stage::Finished => true,
        };
        if !(0..self.len()).all(has_happened) {
            return None;
        }
        for at in 0..self.len() {
            if self.parts[at].stage.get() == Stage::Won && self.group.is_prompt(at) {
                self.finish(at, None);
            }
        }
        Some(self.outputs(&mut Context::from_waker(Waker::noop())))
    }

    /// For a caller that must not wait: the part happens now, or fails if it can.
    fn refuse(&self, at: usize) {
        let is_new = self.parts[at].stage.get() == Stage::New && self.group.polls(at) != Polls::Always;
        if is_new && (self.group.attempt(at, None) || self.group.refuse(at)) {
            self.won(at);
        }
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Vec<G::Output>> {
        if let Some(wakers) = self.wakers.get() {
            wakers.are_for(context.waker());
            sched::coop::look_by_poll(context);
        }
        loop {
            (0..self.len()).for_each(|at| self.step(at, context));
            if (0..self.len()).all(|at| self.is_over(at)) {
                return Poll::Ready(self.outputs(context));
            }
            // The wake of the last plain part, or a deadline, may have come before this poll was complete.
            let missed = self.wakers.get().is_some_and(Wakers::all_are_out);
            if !missed && !self.strikes(context) {
                return Poll::Pending;
            }
        }
    }

    /// True if it only waits: the caller need not act on its win before the others'.
    fn is_plain(&self, at: usize) -> bool {
        !self.group.is_prompt(at) && self.group.polls(at) == Polls::Never && self.group.deadline(at).is_none()
    }

    fn outputs(&self, context: &mut Context<'_>) -> Vec<G::Output> {
        (0..self.len()).map(|at| self.output(at, context)).collect()
    }

    fn is_over(&self, at: usize) -> bool {
        match self.parts[at].stage.get() {
            Stage::New | Stage::Offered | Stage::Untold => false,
            Stage::Won => !self.group.is_prompt(at),
            Stage::Finished => true,
        }
    }

    /// Drives a part as far as possible.
    fn step(&self, at: usize, context: &mut Context<'_>) {
        let part = &self.parts[at];
        if part.stage.get() == Stage::Offered && self.is_worth_a_look(at) {
            self.take_back(at);
        }
        if part.stage.get() == Stage::New {
            self.begin(at, context);
        }
        if part.stage.get() == Stage::Won && self.group.is_prompt(at) {
            self.finish(at, Some(context));
        }
    }

    /// Withdraws a part that has been offered: it is then New, or has won.
    fn take_back(&self, at: usize) {
        let part = &self.parts[at];
        let is_ours = part.choice.synch();
        if is_ours {
            part.choice.forget_waiter();
        }
        self.group.withdraw(at);
        if is_ours {
            part.stage.set(Stage::New);
        } else {
            self.won(at);
        }
    }

    fn finish(&self, at: usize, context: Option<&mut Context<'_>>) {
        if let Poll::Ready(output) = self.group.finish(at, context) {
            self.parts[at].output.set(Some(output));
            self.parts[at].stage.set(Stage::Finished);
        }
    }

    /// True for an offer that has been taken, and for parts that can only be attempted without one.
    fn is_worth_a_look(&self, at: usize) -> bool {
        self.parts[at].choice.is_synched()
            || self.group.polls(at) != Polls::Never
            || self.group.deadline(at).is_some()
    }

    fn begin(&self, at: usize, context: &mut Context<'_>) {
        let is_plain = self.is_plain(at);
        let is_tried = is_plain && self.is_tried.get(); // the offer attempts it again
        if !is_tried && self.group.attempt(at, Some(context)) {
            return self.won(at);
        }
        let wakers = self.wakers.get_or_init(|| Wakers::new(context.waker(), self.len()));
        let part = &self.parts[at];
        part.choice.reopen(Some(if is_plain { wakers.plain() } else { wakers.prompt() }));
        part.stage.set(Stage::Offered);
        // SAFETY: parts and group do not move, and `drop` withdraws the offer before they are dropped
        // (invariant 1).
        match unsafe { self.group.offer(at, &ChoiceRef(&part.choice)) } {
            Offered::Waiting => return,
            Offered::Won => {
                part.choice.forget_waiter();
                if is_plain {
                    wakers.is_not_to_come();
                }
            }
            // A wake is pending.
            Offered::Lost => {}
        }
        self.group.withdraw(at);
        self.won(at);
    }

    fn won(&self, at: usize) {
        self.parts[at].stage.set(Stage::Won);
        self.group.decide(at, true);
    }

    /// The result of a part that is over.
    fn output(&self, at: usize, context: &mut Context<'_>) -> G::Output {
        if let Some(output) = self.parts[at].output.take() {
            return output;
        }
        self.parts[at].stage.set(Stage::Finished);
        match self.group.finish(at, Some(context)) {
            Poll::Ready(output) => output,
            Poll::Pending => crate::bug::bug!("a part without a wrap was not ready"),
        }
    }

    /// True if the deadline of a part that waits has passed; otherwise the caller is woken then.
    fn strikes(&self, context: &mut Context<'_>) -> bool {
        let waits = |at: &usize| self.parts[*at].stage.get() == Stage::Offered;
        let Some(deadline) = (0..self.len()).filter(waits).filter_map(|at| self.group.deadline(at)).min()
        else {
            return false;
        };
        self.clock.wait_for(deadline, context)
    }
}

impl<G: Group> Drop for All<G> {
    fn drop(&mut self) {
        let mut has_won = false;
        for (at, part) in self.parts.iter().enumerate() {
            if part.stage.get() != Stage::Offered {
                continue;
            }
            let is_ours = part.choice.synch();
            if is_ours {
                part.choice.forget_waiter();
            }
            self.group.withdraw(at);
            // Notified only after all offers are withdrawn, because that may run code of the program.
            has_won |= !is_ours;
            part.stage.set(if is_ours { Stage::New } else { Stage::Untold });
        }
        if has_won {
            let is_untold = |at: &usize| self.parts[*at].stage.get() == Stage::Untold;
            (0..self.len()).filter(is_untold).for_each(|at| self.won(at));
        }
    }
}
