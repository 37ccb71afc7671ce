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

use super::{Branch, Choice, ChoiceRef, Offered, Polls, Steps};
#[cfg(not(loom))]
use super::{now, sync::Ended};
use crate::events::Event;
use crate::sched::parts::{Part, Told};
use crate::sched::{self, On, Wait, Waiter};
#[cfg(not(loom))]
use crate::sleep::Sleep;
use crate::sync_shim::left_out;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

/// The future of one synchronisation.
pub(crate) struct Waiting<B: Branch> {
    progress: Progress,
    branch: B,
    _pinned: PhantomPinned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Offered,
    Won,
    Done,
}

/// Returns what a report names: the object of the only branch that has one (`lock_async` is a lock to its reader), else a choice.
#[cfg_attr(loom, allow(irrefutable_let_patterns, reason = "the models have one kind of part"))]
fn on(branch: &dyn Steps) -> On {
    let (mut only, mut count) = (On::from(Wait::Choice), 0);
    branch.tell(&mut Told(&mut |part| {
        count += 1;
        if let Part::On(on) = part {
            only = on;
        }
    }));
    if count == 1 { only } else { Wait::Choice.into() }
}

/// How far a synchronisation is. Its functions are compiled once for all events; the branch is the same in
/// each call.
struct Progress {
    stage: Cell<Stage>,
    choice: Choice,
    clock: Clock,
}

impl Progress {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new() -> Self {
        Self { stage: Cell::new(Stage::New), choice: Choice::new(), clock: Clock::default() }
    }

    /// After an attempt that has failed: ready if the branch has won.
    #[inline(never)]
    fn wait(&self, branch: &dyn Steps, cx: &mut Context<'_>) -> Poll<()> {
        // The deadline may have passed since.
        while self.clock.strikes(branch, cx) {
            if branch.attempt(Some(cx)) {
                return Poll::Ready(());
            }
        }
        let waiter = self.waiter(branch, cx);
        self.choice.reopen(Some(waiter));
        self.stage.set(Stage::Offered);
        // SAFETY: branch and choice are pinned with the future; withdrawn before it is dropped, or below
        // (invariant 1).
        match unsafe { branch.offer(&ChoiceRef(&self.choice)) } {
            Offered::Waiting => return Poll::Pending,
            Offered::Won => self.choice.forget_waiter(),
            Offered::Lost => {}
        }
        branch.withdraw();
        Poll::Ready(())
    }

    fn waiter(&self, branch: &dyn Steps, cx: &Context<'_>) -> Waiter {
        Waiter::of_node(cx, (&raw const self.choice).addr(), on(branch))
    }

    /// A poll in the stage Offered, without a decision: perhaps by another task, or because a future or a
    /// deadline must be checked.
    #[cold]
    #[inline(never)]
    fn look_again(&self, branch: &dyn Steps, cx: &mut Context<'_>) -> Poll<()> {
        if branch.polls() != Polls::Never || branch.deadline().is_some() {
            if self.take_back() {
                branch.withdraw();
                self.stage.set(Stage::Done); // invariant 3
                return if branch.attempt(Some(cx)) { Poll::Ready(()) } else { self.wait(branch, cx) };
            }
        } else {
            let waiter = self.waiter(branch, cx);
            let old = self.choice.renew(waiter);
            // SAFETY: from `of_node`, and no longer in the choice, or never put there; not used again.
            unsafe { old.unwrap_or(waiter).forget_of_node() };
            if old.is_some() {
                return Poll::Pending;
            }
        }
        branch.withdraw();
        Poll::Ready(())
    }

    /// Decides against all branches; false if a peer has decided.
    fn take_back(&self) -> bool {
        let is_ours = self.choice.synch();
        if is_ours {
            self.choice.forget_waiter();
        }
        is_ours
    }

    /// In the stage Offered: withdraws the offers. True if the branch has won.
    #[cold]
    #[inline(never)]
    fn withdraw(&self, branch: &dyn Steps) -> bool {
        let nobody_has_won = self.take_back();
        branch.withdraw();
        !nobody_has_won
    }
}

impl<B: Branch> Waiting<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(branch: B) -> Self {
        Self { progress: Progress::new(), branch, _pinned: PhantomPinned }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        match self.progress.stage.get() {
            Stage::New => {
                if sched::gives_way(cx) {
                    return Poll::Pending;
                }
                self.begin(cx)
            }
            Stage::Offered if self.progress.choice.is_synched() => {
                self.branch.withdraw();
                self.win(cx)
            }
            Stage::Offered => {
                ready!(self.progress.look_again(&self.branch, cx));
                self.win(cx)
            }
            Stage::Won => self.end(cx),
            Stage::Done => polled_again(),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.progress.stage.set(Stage::Done); // invariant 3
        if !self.branch.is_all() && !self.branch.attempt(Some(cx)) {
            ready!(self.progress.wait(&self.branch, cx));
        }
        self.win(cx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn win(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.progress.stage.set(Stage::Done); // invariant 3
        self.branch.decide(true);
        self.end(cx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end(&self, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.progress.stage.set(Stage::Done); // invariant 3
        let output = self.branch.finish(Some(cx));
        if output.is_pending() {
            self.progress.stage.set(Stage::Won);
        }
        output
    }
}

#[cold]
#[inline(never)]
fn polled_again() -> ! {
    panic!("an event was polled after it had given its result, or had panicked")
}

impl<B: Branch> Drop for Waiting<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.progress.stage.get() == Stage::Offered
            && self.progress.withdraw(&self.branch)
            && !left_out!(ChoiceTells)
        {
            self.branch.decide(true);
        }
    }
}

#[cfg(not(loom))]
impl<B: Branch> Waiting<B> {
    /// `poll` without yielding to the hosts first: if it is pending, the offers are out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn poll_at_once(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let this = self.into_ref().get_ref();
        if this.progress.stage.get() == Stage::New { this.begin(cx) } else { this.step(cx) }
    }

    /// Ends the wait of a future: returns the result if a peer has decided by now, and the rest of a
    /// `choose_all` has happened, too. `None` if no communication has happened; then none will.
    fn settle(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Option<B::Output> {
        let this = self.into_ref().get_ref();
        let stage = this.progress.stage.replace(Stage::Done); // invariant 3
        match stage {
            Stage::Done | Stage::New => return None,
            Stage::Won => {}
            Stage::Offered if this.progress.withdraw(&this.branch) => this.branch.decide(true),
            Stage::Offered => return None,
        }
        match this.branch.finish(Some(cx)) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }
}

impl<B: Branch> Future for Waiting<B> {
    type Output = B::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        self.into_ref().get_ref().step(cx)
    }
}

/// A thread that waits as a future does, until its branch has won, or until a limit. The branch is elsewhere,
/// and stays there.
#[cfg(not(loom))]
pub(super) struct Driven<'a> {
    progress: Progress,
    branch: &'a dyn Steps,
    limit: Option<Sleep>,
    _pinned: PhantomPinned,
}

#[cfg(not(loom))]
impl<'a> Driven<'a> {
    pub(super) fn new(branch: &'a dyn Steps, limit: Option<Instant>) -> Self {
        let limit = limit.map(|limit| Sleep::until(Some(limit)));
        Self { progress: Progress::new(), branch, limit, _pinned: PhantomPinned }
    }

    /// Ends the wait of a thread that is cancelled: it takes what has happened or is available without
    /// waiting (the result of an asynchronous event), but for a win that is only a disconnect.
    pub(super) fn settle(self: Pin<&mut Self>) -> Ended {
        let this = self.into_ref().get_ref();
        let has_won = match this.progress.stage.replace(Stage::Done) {
            Stage::Offered => this.progress.withdraw(this.branch),
            _ => false,
        };
        if (has_won || this.branch.attempt(None)) && !this.branch.is_refused() {
            Ended::Won
        } else {
            Ended::Cancelled
        }
    }

    /// Ready if the branch has won.
    fn step(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.progress.stage.get() != Stage::Offered {
            self.progress.stage.set(Stage::Done); // invariant 3
            let has_won = self.branch.attempt(Some(cx));
            return if has_won { Poll::Ready(()) } else { self.progress.wait(self.branch, cx) };
        }
        if self.progress.choice.is_synched() {
            self.branch.withdraw();
            return Poll::Ready(());
        }
        self.progress.look_again(self.branch, cx)
    }

    /// The limit has passed: a peer may have decided first.
    fn time_is_over(&self) -> Ended {
        let has_won = self.progress.withdraw(self.branch);
        self.progress.stage.set(Stage::Done); // invariant 3
        if has_won || now::attempt_all(self.branch) { Ended::Won } else { Ended::TimedOut }
    }
}

#[cfg(not(loom))]
impl Future for Driven<'_> {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        // SAFETY: no field is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        if this.step(cx).is_ready() {
            this.progress.stage.set(Stage::Done);
            return Poll::Ready(Ended::Won);
        }
        // SAFETY: pinned with the whole.
        match this.limit.as_mut().map(|limit| unsafe { Pin::new_unchecked(limit) }.poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(this.time_is_over()),
            _ => Poll::Pending,
        }
    }
}

#[cfg(not(loom))]
impl Drop for Driven<'_> {
    fn drop(&mut self) {
        if self.progress.stage.get() == Stage::Offered && self.progress.withdraw(self.branch) {
            self.branch.decide(true);
        }
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
        self.waiting().settle(&mut Context::from_waker(std::task::Waker::noop()))
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
    fn strikes(&self, branch: &dyn Steps, cx: &mut Context<'_>) -> bool {
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
    fn strikes(&self, _: &dyn Steps, _: &mut Context<'_>) -> bool {
        false
    }

    pub(crate) fn wait_for(&self, _: Instant, _: &mut Context<'_>) -> bool {
        false
    }
}
