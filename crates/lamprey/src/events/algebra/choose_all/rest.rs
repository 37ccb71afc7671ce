//! The second phase of a `choose_all`: all its parts, each with a choice of its own.
//!
//! # States of a part (`Stage`)
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
//! 2. Parts that only wait ("plain") wake the caller once, when the last of them has won ([`Wakers`]). A part
//!    that needs the caller as soon as it has won (a wrap, a nack to be notified, a nested `choose_all`)
//!    wakes the caller at once.
//! 3. Plain parts are finished last, all together: if the caller is dropped, what they have received still
//!    goes back to the channel.
//! 4. A function of a part (its wrap) runs only while every other part has won or is offered, those of nested
//!    `choose_all`s included: it may wait for what their peers do next.
//!
//! # Checked by
//! `model::choice_all` (loom), `tests/event/choose_all.rs`, `tests/sim/wraps.rs`.

use super::Group;
use super::hub::Wakers;
use crate::events::protocol::{Choice, ChoiceRef, Clock, Offered, Polls};
#[cfg(not(loom))]
use crate::parasite::wait_or;
use crate::sched;
#[cfg(loom)]
use crate::sched::worker::wait_or;
use std::cell::{Cell, OnceCell};
use std::future::poll_fn;
use std::marker::PhantomPinned;
use std::task::{Context, Poll, Waker};

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

/// All parts, each with its own choice.
pub(super) struct All<G: Group> {
    parts: Box<[Part<G::Output>]>,
    pub(super) group: G,
    /// Set from the first part on that has to wait.
    wakers: OnceCell<Wakers>,
    /// The plain parts have just been attempted.
    is_tried: Cell<bool>,
    clock: Clock,
    _pinned: PhantomPinned,
}

impl<G: Group> All<G> {
    pub(super) fn new(group: G) -> Self {
        let new = |_| Part { stage: Cell::new(Stage::New), choice: Choice::new(), output: Cell::new(None) };
        let parts = (0..group.len()).map(new).collect();
        let (wakers, is_tried, clock) = (OnceCell::new(), Cell::new(false), Clock::default());
        Self { parts, group, wakers, is_tried, clock, _pinned: PhantomPinned }
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Waits for all parts, as a thread.
    pub(super) fn block(&self) -> Vec<G::Output> {
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

    /// For a thread that is cancelled. Returns the results if all parts have happened.
    fn settle(&self) -> Option<Vec<G::Output>> {
        if !self.settle_parts() {
            return None;
        }
        for at in 0..self.len() {
            if self.is_to_be_finished(at) {
                self.finish(at, None);
            }
        }
        Some(self.outputs(&mut Context::from_waker(Waker::noop())))
    }

    /// For a thread that is cancelled: withdraws the parts that have not happened. True if all have.
    pub(super) fn settle_parts(&self) -> bool {
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
            Stage::Won => !self.group.is_refused(at) && self.group.settle_rest(at),
            Stage::Finished => true,
        };
        (0..self.len()).all(has_happened)
    }

    /// For a caller that must not wait: the part happens now, or fails if it can.
    fn refuse(&self, at: usize) {
        let is_new = self.parts[at].stage.get() == Stage::New && self.group.polls(at) != Polls::Always;
        if is_new && (self.group.attempt(at, None) || self.group.refuse(at)) {
            self.won(at);
        }
    }

    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Vec<G::Output>> {
        if self.wakers.get().is_some() {
            sched::coop::look_by_poll(context);
        }
        loop {
            self.begin_all(context);
            // Only now: a wrap may wait for what the peers of the other parts do next.
            (0..self.len())
                .filter(|&at| self.is_to_be_finished(at))
                .for_each(|at| self.finish(at, Some(context)));
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

    /// Drives all parts as far as possible without running their functions: then each has won or is offered
    /// (invariant 4).
    pub(super) fn begin_all(&self, context: &mut Context<'_>) {
        if let Some(wakers) = self.wakers.get() {
            wakers.set_waker(context.waker());
        }
        for at in 0..self.len() {
            let stage = &self.parts[at].stage;
            if stage.get() == Stage::Offered && self.is_worth_a_look(at) {
                self.take_back(at);
            }
            if stage.get() == Stage::New {
                self.begin(at, context);
            }
            if self.is_to_be_finished(at) {
                self.group.begin_rest(at, context);
            }
        }
    }

    /// True if it has won and has functions to run, or more to wait for.
    fn is_to_be_finished(&self, at: usize) -> bool {
        self.parts[at].stage.get() == Stage::Won && self.group.is_prompt(at)
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
        if self.group.is_all(at) {
            // It cannot lose any more, as the one around it cannot: its own parts are begun next.
            return self.won(at);
        }
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

    pub(super) fn won(&self, at: usize) {
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
