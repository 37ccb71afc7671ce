//! Parking: how a worker with nothing to do goes to sleep without missing a wake-up.
//!
//! # The race
//! A worker decides to sleep because it saw no work; a waker decides not to notify because it saw the worker
//! awake. If both looks happen before both changes, the wake-up is lost and the work waits for ever. Work
//! arrives in the worker's inbox (from other kernel threads) or in the event source that the worker sleeps in
//! (which ends the sleep by itself).
//!
//! # States
//! ```text
//! AWAKE --prepare--> ASLEEP --finish (slept, or found work after all)--> AWAKE
//!                    ASLEEP --claimed by one waker, which then notifies--> AWAKE
//! ```
//!
//! # Invariants
//! 1. The sleeper looks at its inbox *after* it has announced ASLEEP; a waker looks at the state *after* it
//!    has pushed. A SeqCst fence stands between the two steps on both sides, so at least one sees the other.
//! 2. For each sleep at most one waker notifies: the one whose swap found ASLEEP.
//! 3. A notification that comes late (the sleeper had already woken) ends a later sleep early; the worker
//!    finds no work and parks again. No wake-up is lost by it.
//!
//! # Named races
//! * `wake_before_park`: push and look come before `prepare`. The sleeper's look at the inbox sees the entry.
//! * `wake_between_look_and_sleep`: the push comes after the sleeper's look. The waker sees ASLEEP and
//!   notifies; the notification is kept by the eventfd (or the kernel thread's park token) and ends the sleep
//!   at once.
//! * `two_wakers`: the swap lets one of them notify.
//! * `stale_notify`: invariant 3.
//!
//! # Orderings
//! The two SeqCst fences (in `prepare` and in `claim`) are the StoreLoad pair of invariant 1. What a waker
//! wrote travels through the inbox's Release/Acquire; the state's own Release/Acquire makes the sleeper's
//! notifier visible to the waker.
//!
//! # Rejected
//! * A notification on every push: a system call (1-15 us here) for each message to a busy worker.
//! * A counter of pushes that the sleeper compares (an "eventcount"): one more shared word, the same two
//!   fences.
//!
//! # Checked by
//! `model::park` (loom; the model without either fence loses a wake-up and is caught),
//! `tests/stress/mixed.rs`.

use crate::sync_shim::{AtomicBool, Ordering, fence};

/// Whether a worker sleeps: the state word of the protocol.
#[derive(Debug)]
pub(crate) struct Parking {
    asleep: AtomicBool,
}

impl Parking {
    pub(crate) fn new() -> Self {
        Self { asleep: AtomicBool::new(false) }
    }

    /// Sleeper: announces the sleep. Look for work once more after this, then sleep, then
    /// [`finish`](Self::finish).
    pub(crate) fn prepare(&self) {
        // Release pairs with the Acquire swap in `claim`: the waker sees the notifier, which was set before.
        // Ordered against the look at the inbox by the fence below.
        self.asleep.store(true, Ordering::Release);
        // StoreLoad race: our ASLEEP against our look at the inbox; pairs with the fence in `claim`.
        fence(Ordering::SeqCst);
    }

    /// Sleeper: it is awake again, for whatever reason.
    pub(crate) fn finish(&self) {
        // Relaxed: a waker that still reads ASLEEP only notifies in vain (invariant 3).
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// True while the worker sleeps: a hint.
    pub(crate) fn is_asleep(&self) -> bool {
        // Relaxed: a hint; `super::duty` reads it after a fence.
        self.asleep.load(Ordering::Relaxed)
    }

    /// Waker, after its push: true if it must now notify the sleeper.
    pub(crate) fn claim(&self) -> bool {
        // StoreLoad race: our push against our look at the state; pairs with the fence in `prepare`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence above. The swap lets one waker through; its Acquire pairs with the
        // Release store in `prepare`.
        self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::Acquire)
    }
}
