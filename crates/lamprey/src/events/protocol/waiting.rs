//! A future that synchronises: the form of `event.await`.
//!
//! # Stages
//! ```text
//! New --attempt, offer--> Offered --decided by a peer--> Won --finish--> Done
//!  └──────────────won─────────┼──────────────────────────┘
//!      Offered --poll: a foreign future or a deadline must be checked--> New
//! ```
//! # Invariants
//! 1. Offers are out in the stage Offered only; in it, the branch and the choice are pinned with the future.
//!    A future that is dropped decides for itself, or waits for the winner, and withdraws all offers before
//!    its parts are dropped.
//! 2. Foreign futures are polled with no offer out: their code may do anything, and take any time.
//! 3. While code of the program runs (polls, wraps, destructors of losing branches), the stage is Done: if
//!    that code unwinds, the branch is half decided and must not be driven again. A part that has not been
//!    notified of its win would send its value twice.

use super::{Branch, Choice, ChoiceRef, Offered, Polls};
use crate::events::Event;
use crate::sched::{self, Wait, Waiter};
use crate::sync_shim::left_out;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

/// The future of one synchronisation.
pub(crate) struct Waiting<B: Branch> {
    stage: Cell<Stage>,
    choice: Choice,
    branch: B,
    clock: Clock,
    _pinned: PhantomPinned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Offered,
    Won,
    Done,
}

impl<B: Branch> Waiting<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(branch: B) -> Self {
        let stage = Cell::new(Stage::New);
        Self { stage, choice: Choice::new(), branch, clock: Clock::default(), _pinned: PhantomPinned }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        match self.stage.get() {
            Stage::New => {
                if sched::gives_way(cx) {
                    return Poll::Pending;
                }
                self.begin(cx)
            }
            Stage::Offered if self.choice.is_synched() => {
                self.branch.withdraw();
                self.win(cx)
            }
            Stage::Offered => self.look_again(cx),
            Stage::Won => self.end(cx),
            Stage::Done => panic!("an event was polled after it had given its result, or had panicked"),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.stage.set(Stage::Done); // invariant 3
        loop {
            if self.branch.attempt(Some(cx)) {
                return self.win(cx);
            }
            // The deadline may have passed since.
            if !self.clock.strikes(&self.branch, cx) {
                return self.offer(cx);
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        let waiter = Waiter::of_node(cx, (&raw const self.choice).addr(), Wait::Choice);
        self.choice.reopen(Some(waiter));
        self.stage.set(Stage::Offered);
        // SAFETY: pinned with this future; withdrawn before it is dropped, or below (invariant 1).
        match unsafe { self.branch.offer(&ChoiceRef(&self.choice)) } {
            Offered::Waiting => return Poll::Pending,
            Offered::Won => self.choice.forget_waiter(),
            Offered::Lost => {}
        }
        self.branch.withdraw();
        self.win(cx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn win(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.stage.set(Stage::Done); // invariant 3
        self.branch.decide(true);
        self.end(cx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.stage.set(Stage::Done); // invariant 3
        let output = self.branch.finish(Some(cx));
        if output.is_pending() {
            self.stage.set(Stage::Won);
        }
        output
    }

    /// A poll in the stage Offered, without a decision: perhaps by another task, or because a future or a
    /// deadline must be checked.
    #[cold]
    fn look_again(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        if self.branch.polls() != Polls::Never || self.branch.deadline().is_some() {
            if self.take_back() {
                self.branch.withdraw();
                self.stage.set(Stage::New);
                return self.begin(cx);
            }
        } else {
            let waiter = Waiter::of_node(cx, (&raw const self.choice).addr(), Wait::Choice);
            let old = self.choice.renew(waiter);
            // SAFETY: from `of_node`, and no longer in the choice, or never put there; not used again.
            unsafe { old.unwrap_or(waiter).forget_of_node() };
            if old.is_some() {
                return Poll::Pending;
            }
        }
        self.branch.withdraw();
        self.win(cx)
    }

    /// Decides against all branches; false if a peer has decided.
    fn take_back(&self) -> bool {
        let is_ours = self.choice.synch();
        if is_ours {
            self.choice.forget_waiter();
        }
        is_ours
    }
}

impl<B: Branch> Drop for Waiting<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.stage.get() == Stage::Offered {
            let nobody_has_won = self.take_back();
            self.branch.withdraw();
            if !nobody_has_won && !left_out!(ChoiceTells) {
                self.branch.decide(true);
            }
        }
    }
}

impl<B: Branch> Waiting<B> {
    /// `poll` without yielding to the hosts first: if it is pending, the offers are out.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn poll_at_once(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let this = self.into_ref().get_ref();
        if this.stage.get() == Stage::New { this.begin(cx) } else { this.step(cx) }
    }

    /// Ends the wait: returns the result if a peer has decided by now. `None` if no communication has
    /// happened; then none will. Without a context, for a thread that is cancelled: it also takes a result
    /// that is available without waiting (that of an asynchronous event), blocks for the rest of a
    /// `choose_all`, and ignores a win that is only a disconnect. With a context, for a future: it is also
    /// `None` if the rest of a `choose_all` has not happened.
    #[cfg(not(loom))]
    pub(crate) fn settle(self: Pin<&mut Self>, cx: Option<&mut Context<'_>>) -> Option<B::Output> {
        let this = self.into_ref().get_ref();
        let stage = this.stage.replace(Stage::Done); // invariant 3
        let has_won = match stage {
            Stage::Done => return None,
            Stage::Won => true,
            Stage::New => false,
            Stage::Offered => {
                let nobody_has_won = this.take_back();
                this.branch.withdraw();
                !nobody_has_won
            }
        };
        let is_over = match cx {
            Some(_) => has_won,
            None => (has_won || this.branch.attempt(None)) && !this.branch.is_refused(),
        };
        if !is_over {
            return None;
        }
        if stage != Stage::Won {
            this.branch.decide(true);
        }
        match this.branch.finish(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    /// `poll_at_once`, until `limit`: then `None`, and no communication has happened. Dropping the future
    /// instead would leave that open, because a peer may decide first. If a branch has won before, the rest
    /// of its result is waited for without a limit.
    #[cfg(not(loom))]
    pub(super) fn poll_until(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        limit: Pin<&mut crate::sleep::Sleep>,
    ) -> Poll<Option<B::Output>> {
        if let Poll::Ready(output) = self.as_mut().poll_at_once(cx) {
            return Poll::Ready(Some(output));
        }
        let this = self.into_ref().get_ref();
        if this.stage.get() == Stage::Won || limit.poll(cx).is_pending() {
            return Poll::Pending;
        }
        let nobody_has_won = this.take_back();
        this.branch.withdraw();
        this.stage.set(Stage::Done); // invariant 3
        if nobody_has_won && !super::now::attempt_all(&this.branch, this.branch.polls()) {
            return Poll::Ready(None);
        }
        this.win(cx).map(Some)
    }
}

impl<B: Branch> Future for Waiting<B> {
    type Output = B::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.into_ref().get_ref().step(cx)
    }
}

/// A synchronisation in progress: the future of an awaited event.
///
/// # Cancellation
/// If it is dropped before it is ready, the synchronisation has happened or not, and the result is lost in
/// both cases. If a peer has chosen a branch by then, that branch counts as chosen: what it was to send has
/// been received, and its nack does not fire. A value that it had received goes back to its channel, which
/// drops it if no receiver is left. All other values are dropped, and all other nacks fire.
///
/// To learn the outcome, wait as a thread ([`sync`](Event::sync)), or make the reason for giving up part of
/// the choice: `choose((event, timeout(limit)))`, or [`CancelToken::wait_evt`](crate::CancelToken::wait_evt).
///
/// # Panics
/// If it is polled after it has returned its result, or after it has panicked.
#[must_use = "a future does nothing until it is awaited"]
pub struct Synced<E: Event>(Phase<E>);

enum Phase<E: Event> {
    Described(Option<E>),
    Waiting(Waiting<E::Branch>),
}

impl<E: Event> Synced<E> {
    pub(crate) fn new(event: E) -> Self {
        Self(Phase::Described(Some(event)))
    }
}

impl<E: Event> Synced<E> {
    /// The part that waits. On the first call guards run here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<E::Branch>> {
        // SAFETY: a description is not pinned; a `Waiting` stays in its place until it is dropped there.
        let phase = unsafe { &mut self.get_unchecked_mut().0 };
        if let Phase::Described(event) = phase {
            let event =
                event.take().unwrap_or_else(|| panic!("an event was polled after its guard had panicked"));
            *phase = Phase::Waiting(Waiting::new(event.branch()));
        }
        match phase {
            // SAFETY: a `Waiting` stays in its place until it is dropped there.
            Phase::Waiting(waiting) => unsafe { Pin::new_unchecked(waiting) },
            Phase::Described(_) => unreachable!("it has just been replaced"),
        }
    }

    /// [`Waiting::poll_at_once`] for an event that may not be synchronising yet.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn poll_at_once(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<E::Output> {
        self.waiting().poll_at_once(cx)
    }

    /// Called before it is dropped: the result, if a peer has decided by now.
    #[cfg(not(loom))]
    pub(crate) fn last_word(self: Pin<&mut Self>) -> Option<E::Output> {
        // A description has made no offers.
        if matches!(self.0, Phase::Described(_)) {
            return None;
        }
        self.waiting().settle(Some(&mut Context::from_waker(std::task::Waker::noop())))
    }
}

impl<E: Event> Future for Synced<E> {
    type Output = E::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<E::Output> {
        self.waiting().poll(cx)
    }
}

impl<E: Event> std::fmt::Debug for Synced<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Synced")
    }
}

/// The timer of a future whose branch may win by the clock.
#[cfg(not(loom))]
#[derive(Default)]
pub(crate) struct Clock(Cell<Option<Pin<Box<crate::sleep::Sleep>>>>);

#[cfg(not(loom))]
impl Clock {
    /// True if the branch's deadline has passed; otherwise the caller is woken then.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn strikes(&self, branch: &impl Branch, cx: &mut Context<'_>) -> bool {
        branch.deadline().is_some_and(|deadline| self.wait_for(deadline, cx))
    }

    /// True if `deadline` has passed; otherwise the caller is woken then.
    #[cold]
    pub(crate) fn wait_for(&self, deadline: Instant, cx: &mut Context<'_>) -> bool {
        let mut sleep = Box::pin(crate::sleep::Sleep::until(Some(deadline)));
        let strikes = sleep.as_mut().poll(cx).is_ready();
        self.0.set(Some(sleep));
        strikes
    }
}

/// Under the checker no time passes.
#[cfg(loom)]
#[derive(Default)]
pub(crate) struct Clock {}

#[cfg(loom)]
impl Clock {
    fn strikes(&self, _: &impl Branch, _: &mut Context<'_>) -> bool {
        false
    }

    pub(crate) fn wait_for(&self, _: Instant, _: &mut Context<'_>) -> bool {
        false
    }
}
