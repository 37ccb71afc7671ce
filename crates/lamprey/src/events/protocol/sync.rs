//! The blocking form of a synchronisation: for hosts, stackful parasites and OS threads.
//!
//! # Invariant
//! **What has been decided returns.** A thread that times out or is cancelled decides for its choice itself,
//! and has then communicated with no peer; or it finds that a peer has decided, and returns that result. Its
//! next blocking call then unwinds. The one exception is a branch that has won because the other side has
//! disconnected: that has no visible effect, and at the end of a runtime a thread sees its own cancellation
//! first, as in a plain send or receive.
//!
//! # Checked by
//! `model::interrupted` (loom), `tests/cancel/choice.rs`, `tests/cancel/laws.rs`, `tests/stress/choice.rs`.

use super::{Branch, Choice, ChoiceRef, Offered, Polls, now};
use crate::events::Event;
use crate::sched::wait::{self, Early, Entered, Waited};
use crate::sched::{self, Wait, coop};
#[cfg(not(loom))]
use crate::sleep::Sleep;
use crate::sync_shim::left_out;
use std::task::Poll;
use std::time::Instant;
#[cfg(not(loom))]
use {super::Waiting, crate::parasite::wait_or, std::pin::Pin, std::task::Context};

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
    let polls = branch.polls();
    if polls != Polls::Always && branch.attempt(None) {
        return Some(finish(&branch));
    }
    if polls != Polls::Never {
        return by_polling(branch, limit);
    }
    if sched::must_not_block() {
        return if branch.refuse() { Some(finish(&branch)) } else { by_polling(branch, limit) };
    }
    block(branch, limit)
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

/// Queues the offers and blocks until one of them is taken.
fn block<B: Branch>(branch: B, limit: Option<Instant>) -> Option<B::Output> {
    let choice = Choice::new();
    loop {
        let until = [limit, branch.deadline()].into_iter().flatten().min();
        let enter = |me| {
            choice.reopen(Some(me));
            // SAFETY: branch and choice stay here until `withdraw`, below, on every path; nothing in between
            // unwinds.
            match unsafe { branch.offer(&ChoiceRef(&choice)) } {
                Offered::Waiting => Entered::Queued,
                Offered::Won => Entered::Done,
                // Decided by a peer, whose wake is pending.
                Offered::Lost => Entered::WakePending,
            }
        };
        let waited = wait::wait(Wait::Choice, until, enter, |_| choice.synch());
        if branch.withdraw() {
            if left_out!(ChoiceReturns) && waited.is_cancelled() {
                cancelled(branch);
            }
            if branch.is_refused() && sched::is_cancelled() {
                cancelled(branch);
            }
            return Some(finish(&branch));
        }
        match waited {
            Waited::Left(Early::TimedOut) => {}
            _ if waited.is_cancelled() => cancelled(branch),
            _ => crate::bug::bug!("a thread was woken although none of its offers was taken"),
        }
        if branch.attempt(None) {
            return Some(finish(&branch));
        }
        if until == limit {
            return None;
        }
    }
}

/// Drops the branch, so that its nacks fire, before the thread unwinds.
#[cold]
fn cancelled<B: Branch>(branch: B) -> ! {
    drop(branch);
    sched::unwind_cancelled()
}

/// Synchronises as a future, for branches that can only be attempted by polling.
#[cfg(not(loom))]
#[cold]
#[inline(never)]
fn by_polling<B: Branch>(branch: B, limit: Option<Instant>) -> Option<B::Output> {
    let is_bounded = branch.deadline().is_some();
    let waiting = Waiting::new(branch);
    match limit {
        None => Some(wait_or(waiting, is_bounded, |waiting| waiting.settle(None))),
        Some(limit) => {
            let limit = Sleep::until(Some(limit));
            wait_or(Limited { waiting, limit }, true, |limited| limited.waiting().settle(None).map(Some))
        }
    }
}

/// A synchronisation with a time limit. Its wait nodes are in the future, so no waker is boxed for them.
#[cfg(not(loom))]
struct Limited<B: Branch> {
    waiting: Waiting<B>,
    limit: Sleep,
}

#[cfg(not(loom))]
impl<B: Branch> Limited<B> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<B>> {
        // SAFETY: projects the pin to a field, which is never moved out.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }
}

#[cfg(not(loom))]
impl<B: Branch> Future for Limited<B> {
    type Output = Option<B::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both fields are pinned with the whole and never moved out.
        let (waiting, limit) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.waiting), Pin::new_unchecked(&mut this.limit))
        };
        waiting.poll_until(cx, limit)
    }
}

/// Under the checker there are no foreign futures.
#[cfg(loom)]
fn by_polling<B: Branch>(_: B, _: Option<Instant>) -> Option<B::Output> {
    unreachable!("no branch polls under the checker")
}
