//! The blocking form of a synchronisation: for hosts, stackful parasites and OS threads.
//!
//! # Invariant
//! **What has been decided returns.** A thread that times out or is cancelled decides for its choice itself,
//! and has then communicated with no peer; or it finds that a peer has decided, and returns that result. Its
//! next blocking call then unwinds. The one exception is a branch that has won because the other side has
//! disconnected: that has no visible effect, and at the end of a runtime a thread sees its own cancellation
//! first, as in a plain send or receive.
//!
//! # What is compiled for each event
//! Only what a synchronisation that need not wait does: the attempt, and the functions of the program. The
//! rest is compiled once, and calls the steps of the branch (`dyn Steps`).
//!
//! # Checked by
//! `model::interrupted` (loom), `tests/cancel/choice.rs`, `tests/cancel/laws.rs`, `tests/stress/choice.rs`.

use super::{Branch, Choice, ChoiceRef, Offered, Polls, Steps, now};
use crate::events::Event;
use crate::sched::parts::{Parts, PartsRef, Told};
use crate::sched::wait::{self, Early, Entered, Waited};
use crate::sched::{self, Wait, coop};
use crate::sync_shim::left_out;
use std::task::Poll;
use std::time::Instant;
#[cfg(not(loom))]
use {super::waiting::Driven, crate::parasite::wait_or};

/// How the wait for an event has ended; no offer is out any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Won,
    /// Nothing has happened until the limit.
    TimedOut,
    /// The thread is to unwind, and nothing has happened.
    Cancelled,
}

/// Synchronises without a limit.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn sync<E: Event>(event: E) -> E::Output {
    match sync_until(event, None) {
        Some(output) => output,
        None => crate::bug::bug!("a synchronisation without a limit timed out"),
    }
}

/// Synchronises, until `limit` at most.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn sync_until<E: Event>(event: E, limit: Option<Instant>) -> Option<E::Output> {
    coop::call(coop::MESSAGE);
    let branch = event.branch();
    let is_decided = limit.is_none() && branch.is_all();
    if !is_decided && (branch.polls() == Polls::Always || !branch.attempt(None)) {
        match wait(&branch, limit) {
            Ended::Won => {}
            Ended::TimedOut => return None,
            Ended::Cancelled => cancelled(branch),
        }
    }
    Some(finish(&branch))
}

/// Synchronises if that is possible at once.
pub(crate) fn poll<E: Event>(event: E) -> Option<E::Output> {
    let branch = event.branch();
    coop::tried(now::attempt(&branch).then(|| finish(&branch)), Option::is_none)
}

#[inline]
fn finish<B: Branch>(branch: &B) -> B::Output {
    branch.decide(true);
    match branch.finish(None) {
        Poll::Ready(output) => output,
        Poll::Pending => crate::bug::bug!("a thread was told to come back"),
    }
}

/// Drops the branch, so that its nacks fire, before the thread unwinds.
#[cold]
#[inline(never)]
fn cancelled<B: Branch>(branch: B) -> ! {
    drop(branch);
    sched::unwind_cancelled()
}

/// Waits for a branch that has been attempted.
#[inline(never)]
fn wait(branch: &dyn Steps, limit: Option<Instant>) -> Ended {
    if branch.polls() != Polls::Never {
        return by_polling(branch, limit);
    }
    if sched::must_not_block() {
        return if branch.refuse() { Ended::Won } else { by_polling(branch, limit) };
    }
    block(branch, limit)
}

/// The branches of a choice, for who looks at the thread.
struct Offers<'a>(&'a dyn Steps);

impl Parts for Offers<'_> {
    fn tell(&self, told: &mut Told<'_>) {
        self.0.tell(told);
    }
}

/// Queues the offers and blocks until one of them is taken.
#[cfg_attr(not(debug_assertions), inline(always))]
fn block(branch: &dyn Steps, limit: Option<Instant>) -> Ended {
    let choice = Choice::new();
    let offers = Offers(branch);
    let parts = PartsRef(&offers);
    loop {
        let until = [limit, branch.deadline()].into_iter().flatten().min();
        let enter = |me| {
            choice.reopen(Some(me));
            // SAFETY: branch and choice stay where they are until `withdraw`, below, on every path; nothing
            // in between unwinds.
            match unsafe { branch.offer(&ChoiceRef(&choice)) } {
                Offered::Waiting => Entered::Queued,
                Offered::Won => Entered::Done,
                // Decided by a peer, whose wake is pending.
                Offered::Lost => Entered::WakePending,
            }
        };
        let waited = wait::wait(parts.on(Wait::Choice), until, enter, |_| choice.synch());
        if branch.withdraw() {
            let is_lost = left_out!(ChoiceReturns) && waited.is_cancelled();
            if is_lost || (branch.is_refused() && sched::is_cancelled()) {
                return Ended::Cancelled;
            }
            return Ended::Won;
        }
        match waited {
            Waited::Left(Early::TimedOut) => {}
            _ if waited.is_cancelled() => return Ended::Cancelled,
            _ => crate::bug::bug!("a thread was woken although none of its offers was taken"),
        }
        if branch.attempt(None) {
            return Ended::Won;
        }
        if until == limit {
            return Ended::TimedOut;
        }
    }
}

/// Waits as a future does, for branches that can only be attempted by polling.
#[cfg(not(loom))]
#[cold]
#[inline(never)]
fn by_polling(branch: &dyn Steps, limit: Option<Instant>) -> Ended {
    let is_bounded = limit.is_some() || branch.deadline().is_some();
    wait_or(Driven::new(branch, limit), is_bounded, |driven| Some(driven.settle()))
}

/// Under the checker there are no foreign futures.
#[cfg(loom)]
fn by_polling(_: &dyn Steps, _: Option<Instant>) -> Ended {
    unreachable!("no branch polls under the checker")
}
