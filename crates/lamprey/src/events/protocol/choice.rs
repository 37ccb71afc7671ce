//! The claim of a choice: one word that says whether it is decided. The thread that changes it to SYNCHED
//! decides.
//!
//! A thread (or future) that synchronises on several events at once puts an *offer* of each into the wait
//! queue of its channel; all of them point at one `Choice`. A thread that meets an offer decides for the
//! choice, if that has not been done.
//!
//! # States
//! ```text
//! WAITING --synch: by a thread that meets an offer, or by the owner itself--> SYNCHED
//! WAITING --claim: by the owner, to meet another choice--> CLAIMED --> SYNCHED, or back to WAITING
//! SYNCHED --reopen: by the owner, once it has withdrawn all its offers--> WAITING
//! ```
//!
//! # Invariants
//! 1. **One winner.** The thread that changes the word to SYNCHED decides: a peer for the offer that it has
//!    taken out, the owner for one that it was about to make, for a time-out or for a cancellation. All
//!    others leave the choice alone.
//! 2. **Responsibility.** An offer enters its queue, and the other side of that queue is examined, in one
//!    atomic step of the channel. So of two offers that match, the later one sees the earlier one, and the
//!    owner of the later one must try to decide for both. No match is missed although no thread locks two
//!    channels.
//! 3. CLAIMED lasts a few instructions, during which its owner does not wait (see [`Choice::synch_both`]). So
//!    others may spin for it.
//! 4. A peer that has won must wake the owner once, through `waiter`, if there is one ([`now`](super::now));
//!    it reads that before it releases the node. The choice lives until all its offers are out and released
//!    (`channel::rendezvous::wait_node`, invariants 1 and 2).
//!
//! # Orderings
//! Every change to SYNCHED is AcqRel: Acquire sees the waiter that the owner wrote before WAITING (Release in
//! `unclaim`, or the publication of the offer); Release and the owner's Acquire in `is_synched` order
//! everything that the winner did before its decision ahead of what the owner does with its offers.
//!
//! # Where this differs from the paper (Reppy, Russo, Xiao 2009)
//! * There a thread that finds its partner CLAIMED releases its own claim and tries again, and two threads
//!   may do so in lockstep for ever. Here the one with the greater address waits until the other is not
//!   CLAIMED any more: one of them succeeds.
//! * There an offer that has lost stays in its queue until another thread comes across it. Here the owner
//!   withdraws all its offers, so that a channel on which a choice never wins does not grow.
//! * As there, an owner can be decided for while it still enqueues; but here it first polls all channels, as
//!   a plain operation that needs no claim of its own.
//! * A plain send or receive has no word to claim: it is in one queue, and taking it out of that queue
//!   decides.
//!
//! # Rejected
//! * A lock for each choice, or one for all: the winner would hold it while it moves the value and wakes.
//! * The claim as a bit in the thread's own state: timers and cancellation access that without atomic
//!   operations (`sched::block`).
//!
//! # Checked by
//! `model::choice`, `model::choice_future` (loom: against a thread, crossing another, against itself, with a
//! time-out, a disconnect; broken variants), `tests/event/laws.rs`, `tests/event/race.rs`.

use crate::sched::Waiter;
use crate::sync_shim::{AtomicUsize, Ordering, UnsafeCell, left_out, relax};
#[cfg(not(loom))]
use std::ptr;

const WAITING: usize = 0;
const CLAIMED: usize = 1;
const SYNCHED: usize = 2;

/// The claim and the waiter of one synchronisation. Aligned so that three bits of a pointer to it are free.
#[repr(align(8))]
pub(crate) struct Choice {
    claim: AtomicUsize,
    /// The owner's until WAITING is published, and in CLAIMED; the winner's in SYNCHED.
    waiter: UnsafeCell<Option<Waiter>>,
    /// In place of the address, which differs between the executions that the checker explores.
    #[cfg(loom)]
    number: usize,
}

/// The number of the next choice.
#[cfg(loom)]
static NUMBER: crate::sync_shim::plain::AtomicUsize = crate::sync_shim::plain::AtomicUsize::new(0);

/// The outcome of an attempt to decide for two choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Both {
    Synched,
    /// A peer has decided for the caller's choice.
    OursIsGone,
    TheirsIsGone,
}

impl Choice {
    /// An undecided choice without a waiter: [`reopen`](Self::reopen) it before the first offer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new() -> Self {
        Self {
            claim: AtomicUsize::new(WAITING),
            waiter: UnsafeCell::new(None),
            // Relaxed: a unique number, and loom's threads are one kernel thread.
            #[cfg(loom)]
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// A total order of choices.
    fn order(&self) -> usize {
        #[cfg(loom)]
        return self.number;
        #[cfg(not(loom))]
        ptr::from_ref(self).addr()
    }

    /// Decides; false if the choice was already decided.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn synch(&self) -> bool {
        let mut spins = 0;
        loop {
            match self.change(WAITING, SYNCHED) {
                Ok(()) => return true,
                Err(SYNCHED) => return false,
                Err(_) => relax(&mut spins),
            }
        }
    }

    /// Owner: true if the choice is decided.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_synched(&self) -> bool {
        // Acquire pairs with the Release half of `synch`: the owner sees what the winner did before.
        self.claim.load(Ordering::Acquire) == SYNCHED
    }

    /// Owner of `self`, which holds the lock of the channel in which it has found an offer of `theirs`:
    /// decides for both at once.
    pub(crate) fn synch_both(&self, theirs: &Choice) -> Both {
        let (mut spins, yields) = (0, self.order() > theirs.order());
        loop {
            if self.change(WAITING, CLAIMED).is_err() {
                return Both::OursIsGone;
            }
            match theirs.change(WAITING, SYNCHED) {
                Ok(()) => {
                    self.unclaim(SYNCHED);
                    return Both::Synched;
                }
                Err(SYNCHED) => {
                    self.unclaim(WAITING);
                    return Both::TheirsIsGone;
                }
                Err(_) => self.unclaim(WAITING),
            }
            relax(&mut spins);
            // Relaxed: only waits, with nothing claimed; the next attempt synchronises.
            while yields && theirs.claim.load(Ordering::Relaxed) == CLAIMED {
                relax(&mut spins);
            }
        }
    }

    /// Owner: replaces the waiter; returns the previous one, or `None` if the choice is decided.
    pub(crate) fn renew(&self, waiter: Waiter) -> Option<Waiter> {
        self.change(WAITING, CLAIMED).ok()?;
        // SAFETY: in CLAIMED only the owner accesses the waiter.
        let old = self.waiter.with_mut(|place| unsafe { (*place).replace(waiter) });
        self.unclaim(WAITING);
        old
    }

    /// Owner, with all offers withdrawn: makes the choice undecided again, with `waiter` to wake.
    pub(crate) fn reopen(&self, waiter: Option<Waiter>) {
        // SAFETY: no offer is out, so no other thread knows the choice.
        self.waiter.with_mut(|place| unsafe { place.write(waiter) });
        // Relaxed: published by the channel together with the first offer.
        self.claim.store(WAITING, Ordering::Relaxed);
    }

    /// Winner: the waiter, unless the owner does not wait. The winner then owns a foreign waker in it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn waiter(&self) -> Option<Waiter> {
        // SAFETY: in SYNCHED no thread writes it before all offers are withdrawn.
        self.waiter.with(|place| unsafe { place.read() })
    }

    /// Owner, which has synched the choice itself: drops the waiter, which no other thread will use.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn forget_waiter(&self) {
        if let Some(waiter) = self.waiter() {
            // SAFETY: in SYNCHED the waiter is the winner's, which is the caller; it is not used again.
            unsafe { waiter.forget_of_node() };
        }
    }

    fn unclaim(&self, to: usize) {
        if left_out!(Unclaim) && to == WAITING {
            return;
        }
        // Release pairs with the Acquire half of `synch`: the thread that decides next sees the waiter.
        self.claim.store(to, Ordering::Release);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change(&self, from: usize, to: usize) -> Result<(), usize> {
        // AcqRel pairs with itself, with `unclaim` and with `is_synched`. Acquire on failure: a thread that
        // finds the choice SYNCHED sees everything before the decision. (Relaxed in a broken variant.)
        let order = if left_out!(ChoiceOrder) { Ordering::Relaxed } else { Ordering::AcqRel };
        self.claim.compare_exchange(from, to, order, Ordering::Acquire).map(drop)
    }
}

/// Asserts to the checker that no other thread accesses it any more.
#[cfg(loom)]
impl Drop for Choice {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.claim.with_mut(|_| ());
            self.waiter.with_mut(|_| ());
        }
    }
}
