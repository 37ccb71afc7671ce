//! A thread that synchronises: a host, a stackful parasite, an OS thread.

use super::{Branch, Choice, ChoiceRef, Offered, Polls};
use crate::event::Event;
use crate::sched::{self, Wait, Woke};
use crate::time;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
#[cfg(not(loom))]
use std::{future::poll_fn, pin::pin};

/// Synchronises, waiting as long as it takes.
#[inline]
pub(crate) fn sync<E: Event>(event: E) -> E::Output {
    match sync_until(event, None) {
        Some(output) => output,
        None => crate::bug::bug!("a synchronisation without a limit timed out"),
    }
}

/// Synchronises, until `limit` at most.
#[inline]
pub(crate) fn sync_until<E: Event>(event: E, limit: Option<Instant>) -> Option<E::Output> {
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
    let mut context = Context::from_waker(Waker::noop());
    let context = (branch.polls() == Polls::Always).then_some(&mut context);
    branch.attempt(context).then(|| finish(&branch))
}

#[inline]
fn finish<B: Branch>(branch: &B) -> B::Output {
    branch.decide(true);
    match branch.finish(None) {
        Poll::Ready(output) => output,
        Poll::Pending => crate::bug::bug!("a thread was told to come back"),
    }
}

/// The offers are made; now the thread waits for one of them to be taken.
fn block<B: Branch>(branch: B, limit: Option<Instant>) -> Option<B::Output> {
    let choice = Choice::new();
    loop {
        choice.reopen(sched::waiter());
        // SAFETY: both stay here until `withdraw`, below, in each of the cases; nothing in between unwinds.
        let offered = unsafe { branch.offer(&ChoiceRef(&choice)) };
        let until = [limit, branch.deadline()].into_iter().flatten().min();
        let woke = match offered {
            Offered::Waiting => time::block_until(Wait::Choice, until),
            Offered::Won => Woke::Woken,
            // Decided by a peer, whose wake is under way.
            Offered::Lost => {
                sched::block_until_woken(Wait::Choice);
                Woke::Woken
            }
        };
        if woke != Woke::Woken && !choice.synch() {
            sched::block_until_woken(Wait::Choice);
        }
        if branch.withdraw() {
            if woke == Woke::Cancelled {
                cancelled(branch);
            }
            return Some(finish(&branch));
        }
        match woke {
            Woke::Woken => crate::bug::bug!("a thread was woken although none of its offers was taken"),
            Woke::Cancelled => cancelled(branch),
            Woke::TimedOut => {}
        }
        if branch.attempt(None) {
            return Some(finish(&branch));
        }
        if until == limit {
            return None;
        }
    }
}

/// What the branch holds is dropped, and its nacks fire, before the thread unwinds.
#[cold]
fn cancelled<B: Branch>(branch: B) -> ! {
    drop(branch);
    sched::unwind_cancelled()
}

/// As a future: for what can only be looked at by polling it.
#[cfg(not(loom))]
#[cold]
#[inline(never)]
fn by_polling<B: Branch>(branch: B, limit: Option<Instant>) -> Option<B::Output> {
    let waiting = super::Waiting::new(branch);
    match limit {
        None => Some(crate::parasite::wait(waiting)),
        // What waits lies within the future, for which no waker is boxed.
        Some(limit) => crate::parasite::wait(async move {
            let (mut waiting, mut limit) = (pin!(waiting), pin!(time::Sleep::until(Some(limit))));
            poll_fn(|cx| waiting.as_mut().poll_until(cx, limit.as_mut())).await
        }),
    }
}

/// Under the checker there are no foreign futures.
#[cfg(loom)]
fn by_polling<B: Branch>(_: B, _: Option<Instant>) -> Option<B::Output> {
    unreachable!("no branch polls under the checker")
}
