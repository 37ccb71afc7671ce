//! Which worker is on watch: at most one worker of a runtime sleeps only briefly and looks whether another
//! worker computes; [`super::watch`] is what it does then (Go's sysmon).
//!
//! # States (`who`)
//! ```text
//! NOBODY --take: a worker lies down while others are awake--> that worker
//! NOBODY --take: a worker that has slept briefly finds others awake--> that worker
//! NOBODY --appoint: a worker gets up, or leaves the watch, and finds others asleep, none of them briefly--> one of these
//! a worker --leave: it has work, or no worker is awake any more--> NOBODY
//! an appointed one --it was not asleep after all: its appointer takes it back--> NOBODY
//! ```
//!
//! # Invariants
//! 1. While one worker is awake and another asleep, one of these holds: a worker is on watch; the worker that
//!    last got up, or last left the watch, is about to appoint one; a sleeper has yet to look, before it
//!    sleeps or when a brief sleep is over.
//! 2. An appointed worker learns of it: it was asleep when it was appointed, is woken, and looks when it
//!    wakes.
//! 3. For a moment two workers may believe that they are on watch (the last transition): that costs one more
//!    look.
//!
//! # Who may touch what
//! `who`: any worker changes it from NOBODY; only the worker that it names, and that one's appointer, change
//! it back, by a CAS.
//!
//! # Orderings
//! A worker that goes to sleep announces that ([`Parking`](super::park::Parking)), then reads who is on watch
//! and how many are awake. One that gets up, or leaves the watch, changes that first and then reads who is
//! asleep, and whether briefly. A SeqCst fence stands between the two steps on both sides, so one of the two
//! sees the other (StoreLoad). The same holds for an appointment and a sleeper that gets up by itself: `who`,
//! fence, `asleep` (both in `Parking::claim`) against `asleep`, fence, `who`.
//!
//! # Rejected
//! * A kernel thread of its own (Go's sysmon, and the ticker of `super::parasite::offer`): it would have to
//!   wake a worker whenever it finds something, and it runs even if no worker is idle, that is, if no CPU is
//!   free.
//! * All idle workers: on many CPUs one computing worker would keep all others from sleeping.
//! * A timer that each worker sets before it runs a host: a system call for each sleep.
//!
//! # Checked by
//! `model::duty` (loom, with broken variants that it catches), `tests/sched/progress.rs`.

use crate::sync_shim::{AtomicUsize, Ordering, fence, left_out};

const NOBODY: usize = 0;

/// Which worker of a runtime is on watch.
#[derive(Debug)]
pub(crate) struct Duty {
    /// NOBODY, or the worker's index + 1.
    who: AtomicUsize,
}

impl Duty {
    pub(crate) fn new() -> Self {
        Self { who: AtomicUsize::new(NOBODY) }
    }

    /// True if no worker is on watch. Called after a fence.
    pub(crate) fn is_vacant(&self) -> bool {
        // Relaxed: the caller's fence orders it (see Orderings).
        self.who.load(Ordering::Relaxed) == NOBODY
    }

    /// For `worker`, which has announced its sleep and is not on watch: true if it must not sleep yet,
    /// because `awake` workers are awake and no worker is on watch. Also true if another worker has just
    /// appointed this one: the appointer may find it awake and take that back.
    pub(crate) fn is_lacking(&self, worker: usize, awake: &AtomicUsize) -> bool {
        if left_out!(DutyBlind) {
            return false;
        }
        // Relaxed: ordered by the fence in `Parking::prepare`.
        let who = self.who.load(Ordering::Relaxed);
        // Relaxed: ordered by the fence in `Parking::prepare`.
        (who == NOBODY || who == worker + 1) && awake.load(Ordering::Relaxed) != 0
    }

    /// For a worker that has got up: true if another one has put it on watch. Its fence also orders a
    /// following [`is_vacant`](Self::is_vacant).
    pub(crate) fn is_mine(&self, worker: usize) -> bool {
        // StoreLoad race: the caller is no longer asleep, and counts as awake, against its look at `who`;
        // pairs with the fences in `Parking`.
        fence(Ordering::SeqCst);
        // Acquire pairs with the CAS in `appoint`.
        self.who.load(Ordering::Acquire) == worker + 1
    }

    /// Called by a worker that has changed `who` or `awake`, before it looks for a sleeper to appoint.
    pub(crate) fn before_search() {
        // StoreLoad race: `who`, or how many are awake, against who is asleep; pairs with the fence in
        // `Parking::prepare`.
        fence(Ordering::SeqCst);
    }

    /// Puts `worker` on watch if no worker is; called by itself, or by another one, which wakes it then. True
    /// on success.
    pub(crate) fn appoint(&self, worker: usize) -> bool {
        // AcqRel pairs with itself and with `is_mine`. Relaxed on failure: another worker is on watch.
        self.who.compare_exchange(NOBODY, worker + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes `worker` off it; false if it was not on watch.
    pub(crate) fn leave(&self, worker: usize) -> bool {
        // AcqRel pairs with itself. Relaxed on failure: nothing is done.
        self.who.compare_exchange(worker + 1, NOBODY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
