//! The claim of a choice: one word that says whether it is decided, and with that who decides.
//!
//! A thread (or future) that synchronises on several events at once puts an *offer* of each into the queue of
//! its channel; all of them point at one `Choice`. Whoever meets an offer decides for the choice, if nobody
//! has before.
//!
//! # States
//! ```text
//! WAITING --synch: by whoever meets an offer, or by the owner itself--> SYNCHED
//! WAITING --claim: by the owner, to meet another choice--> CLAIMED --> SYNCHED, or back to WAITING
//! SYNCHED --reopen: by the owner, once all its offers are its own again--> WAITING
//! ```
//!
//! # Invariants
//! 1. **One winner.** Who brings the word to SYNCHED decides: a peer for the offer that it has taken out, the
//!    owner for one that it was about to make, for a time-out or for a cancellation. All others leave the
//!    choice alone.
//! 2. **Responsibility.** An offer enters its queue, and the other side of that queue is looked at, in one
//!    atomic step of the channel. So of two offers that match, the later one sees the earlier one, and it is
//!    the later one's owner who must try to decide for both. No match is missed though nobody locks two
//!    channels.
//! 3. CLAIMED lasts a few instructions: its owner then waits for nothing (see [`Choice::synch_both`]). So
//!    others may spin for it.
//! 4. The peer that has won owes the owner one wake, through `waiter`; it reads that before it lets the node
//!    go. The choice lives until all its offers are out and let go (`channel::party`, invariants 1 and 2).
//!
//! # Orderings
//! Every change to SYNCHED is AcqRel: Acquire sees the waiter that the owner wrote before WAITING (Release in
//! `unclaim`, or the publication of the offer); Release and the owner's Acquire in `is_synched` order the
//! loss of an offer before its end.
//!
//! # Where this differs from the paper (Reppy, Russo, Xiao 2009)
//! * There a thread that finds its partner CLAIMED lets its own claim go and tries again, and two may do so
//!   for ever in step. Here the one with the greater address waits until the other has come to an end: one of
//!   them gets through.
//! * There an event that was enqueued and lost stays in its queue until somebody comes across it. Here the
//!   owner takes all its offers back, so that nothing grows in a channel on which a choice never wins.
//! * There the owner is CLAIMED-able while it still enqueues, as here; but it polls all channels before it
//!   enqueues at all, as a plain operation that needs no claim of its own.
//! * A plain send or receive has no word to claim: it is in one queue, and taking it out of that decides.
//!
//! # Rejected
//! * A lock for each choice, or one for all: the winner would hold it while it moves the value and wakes.
//! * The claim as a bit in the thread's own state: timers and cancellation touch that without atomic steps
//!   (`sched::block`).
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

/// See the module's text. Aligned so that three bits of a pointer to it are free.
#[repr(align(8))]
pub(crate) struct Choice {
    claim: AtomicUsize,
    /// The owner's while WAITING is not published, and in CLAIMED; the winner's in SYNCHED.
    waiter: UnsafeCell<Option<Waiter>>,
    /// Stands for the address, which is another in each execution that the checker explores.
    #[cfg(loom)]
    number: usize,
}

/// Numbers choices in the order in which they are made.
#[cfg(loom)]
static NUMBER: crate::sync_shim::plain::AtomicUsize = crate::sync_shim::plain::AtomicUsize::new(0);

/// What came of an attempt to decide for two choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Both {
    Synched,
    /// Somebody has decided for ours.
    OursIsGone,
    TheirsIsGone,
}

impl Choice {
    /// Undecided, and without a waiter: [`reopen`](Self::reopen) it before the first offer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new() -> Self {
        Self {
            claim: AtomicUsize::new(WAITING),
            waiter: UnsafeCell::new(None),
            // Relaxed: a number, and loom's threads are one kernel thread.
            #[cfg(loom)]
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Any order among choices.
    fn order(&self) -> usize {
        #[cfg(loom)]
        return self.number;
        #[cfg(not(loom))]
        ptr::from_ref(self).addr()
    }

    /// Decides, if nobody has.
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

    /// Owner: true if somebody has decided.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_synched(&self) -> bool {
        // Acquire pairs with the Release half of `synch`.
        self.claim.load(Ordering::Acquire) == SYNCHED
    }

    /// Owner of `self`, which holds the lock of the channel where it has found an offer of `theirs`: decides
    /// for both at once.
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
            // Relaxed: only waits, with nothing claimed; the next attempt looks properly.
            while yields && theirs.claim.load(Ordering::Relaxed) == CLAIMED {
                relax(&mut spins);
            }
        }
    }

    /// Owner: another waiter; the one that it had. `None` if somebody has decided.
    pub(crate) fn renew(&self, waiter: Waiter) -> Option<Waiter> {
        self.change(WAITING, CLAIMED).ok()?;
        // SAFETY: CLAIMED is the owner's (see the field).
        let old = self.waiter.with_mut(|place| unsafe { (*place).replace(waiter) });
        self.unclaim(WAITING);
        old
    }

    /// Owner, with all offers back: may be decided again, and wakes `waiter` then.
    pub(crate) fn reopen(&self, waiter: Waiter) {
        // SAFETY: no offer is out, so nobody else knows the choice.
        self.waiter.with_mut(|place| unsafe { place.write(Some(waiter)) });
        // Relaxed: published with the first offer.
        self.claim.store(WAITING, Ordering::Relaxed);
    }

    /// The waiter: for the winner. A foreign waker is the winner's from then on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn waiter(&self) -> Waiter {
        // SAFETY: in SYNCHED nobody writes it before all offers are back.
        let waiter = self.waiter.with(|place| unsafe { place.read() });
        waiter.unwrap_or_else(|| crate::bug::bug!("an offer was made for nobody"))
    }

    /// Owner, which has synched the choice itself: nobody else will use the waiter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn forget_waiter(&self) {
        // SAFETY: the winner's, which is us; the word is used no more.
        unsafe { self.waiter().forget_of_node() };
    }

    fn unclaim(&self, to: usize) {
        if left_out!(Unclaim) && to == WAITING {
            return;
        }
        // Release pairs with the Acquire half of `synch`: who decides next sees the waiter.
        self.claim.store(to, Ordering::Release);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change(&self, from: usize, to: usize) -> Result<(), usize> {
        // AcqRel pairs with itself, with `unclaim` and with `is_synched`; Acquire on failure: who finds the
        // choice SYNCHED sees all that came before that. (Relaxed in a broken variant.)
        let order = if left_out!(ChoiceOrder) { Ordering::Relaxed } else { Ordering::AcqRel };
        self.claim.compare_exchange(from, to, order, Ordering::Acquire).map(drop)
    }
}

/// The checker is told that nobody else uses it any more.
#[cfg(loom)]
impl Drop for Choice {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.claim.with_mut(|_| ());
            self.waiter.with_mut(|_| ());
        }
    }
}
