//! A synchronisation that must not wait, and yet is exact: if it finds nothing, there was a moment, during
//! the call, at which no part of the event was ready.
//!
//! To look at one part after the other is not enough. While the caller looks at the second channel, a sender
//! may come to the first one and another leave the second one; both were looked at while nobody was there,
//! although there was a sender at every moment.
//!
//! # How
//! 1. All parts are attempted. A future is polled with a waker that does nothing: if it is not ready, it is
//!    then in its queue, and what comes for it is reserved for it.
//! 2. All offers are made in the name of one choice, as if the caller were about to wait.
//! 3. The caller decides the choice itself: **the moment**. If a peer has decided it before, that part has
//!    won.
//! 4. All offers are withdrawn, and the futures polled again: what has been reserved for one since step 1 is
//!    taken.
//!
//! # Invariants
//! 1. A peer that comes to a channel between steps 2 and 3 finds the offer there, and decides for the choice.
//!    So at the moment no peer waits in a channel for which the caller has found none in step 2.
//! 2. A future that is not ready in step 4 has been in its queue since step 1, and nothing has been reserved
//!    for it.
//! 3. The choice has no waiter ([`Choice`], invariant 4): its owner does not wait for a wake, only, in
//!    `withdraw`, until the winner has given the node back, which takes a few instructions.
//!
//! # What it cannot say
//! A value of a buffered channel that is reserved for another waiter counts as taken, even if that waiter is
//! about to leave it. A future of the program (`future_evt`) says itself what it is.
//!
//! # What it costs
//! A host that looks in vain for something in 12 channels needs 76 ns (to look at one after the other took
//! 32), in 12 buffered ones 910 (127), as their futures are boxed to be queued: `lamprey-bench run select`,
//! variant `poll`. To find something costs what it did.
//!
//! # Rejected
//! * To attempt the parts again until nothing has changed in between: each channel would have to count its
//!   changes, in each operation, and beside busy channels it may never end.
//! * A lock over all channels (Go): a thread that meets one channel would have to wait for it.
//!
//! # Checked by
//! `model::now` (loom, with a broken variant), `tests/event/exact.rs`.

use super::{Choice, ChoiceRef, Offered, Polls, Steps};
use crate::sync_shim::left_out;
use std::task::{Context, Waker};

/// Communicates if that is possible without waiting; true if the branch has won.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn attempt<B: Steps>(branch: &B) -> bool {
    if branch.polls() != Polls::Always && branch.attempt(None) {
        return true;
    }
    // What one part says is exact, unless it is a future that has not been polled.
    let is_exact = branch.parts() < 2 && branch.polls() != Polls::Always;
    !is_exact && !left_out!(NowOffers) && attempt_all(branch)
}

/// The steps above.
#[cold]
#[inline(never)]
pub(super) fn attempt_all(branch: &dyn Steps) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    let (parts, polls) = (branch.parts(), branch.polls());
    if polls != Polls::Never && branch.attempt(Some(&mut context)) {
        return true;
    }
    if parts < 2 {
        return false;
    }
    let choice = Choice::new();
    choice.reopen(None);
    // SAFETY: branch and choice stay where they are until `withdraw`, which comes next; nothing in between
    // unwinds.
    if unsafe { branch.offer(&ChoiceRef(&choice)) } == Offered::Waiting {
        choice.synch();
    }
    branch.withdraw() || (polls != Polls::Never && branch.attempt(Some(&mut context)))
}
