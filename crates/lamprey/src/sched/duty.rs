//! Who is on watch: at most one worker of a runtime, which does not sleep for long and looks whether another
//! computes ([`super::watch`] says what it does then).
//!
//! # States (`who`)
//! ```text
//! NOBODY --take: a worker lies down while others are awake--> that worker
//! NOBODY --take: a worker that has slept briefly finds others awake--> that worker
//! NOBODY --appoint: a worker gets up, or leaves the watch, and finds others asleep, none of them briefly--> one of these
//! a worker --leave: it has work, or nobody is awake any more--> NOBODY
//! an appointed one --it was not asleep after all: its appointer takes it back--> NOBODY
//! ```
//!
//! # Invariants
//! 1. While a worker is awake and another asleep, somebody is on watch, or whoever got up last, or left the
//!    watch last, is about to appoint somebody, or a sleeper has yet to look: before it sleeps, or when a
//!    brief sleep is over.
//! 2. Whoever is appointed learns of it: it was asleep when it was told, is woken, and looks when it wakes.
//! 3. Two may believe for a while that they are on watch (the last line above): one look more.
//!
//! # Who may touch what
//! `who`: from NOBODY anyone; from a worker that worker, and its appointer, by a CAS.
//!
//! # Orderings
//! A worker that goes to sleep announces that ([`Parking`](super::park::Parking)), then looks who is on watch
//! and how many are awake; one that gets up, or leaves the watch, changes that first and then looks who is
//! asleep, and whether briefly: a SeqCst fence stands between the two steps on both sides, so one of the two
//! sees the other (StoreLoad). The same for an appointment and a sleeper that gets up by itself: `who`,
//! fence, `asleep` (both in `Parking::claim`) against `asleep`, fence, `who`.
//!
//! # Rejected
//! * A kernel thread for it (Go's sysmon, and the ticker of `super::parasite::offer`): it would have to wake
//!   a worker whenever it finds something, and it runs also where no worker is idle, that is, where a CPU is
//!   not.
//! * All idle workers: on many CPUs one computing worker would keep all others from sleeping.
//! * A timer that each worker sets before it runs a host: a system call for each sleep.
//!
//! # Checked by
//! `model::duty` (loom, with broken variants that it catches), `tests/sched/progress.rs`.

use crate::sync_shim::{AtomicUsize, Ordering, fence, left_out};

const NOBODY: usize = 0;

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Duty {
    /// The worker's index + 1.
    who: AtomicUsize,
}

impl Duty {
    pub(crate) fn new() -> Self {
        Self { who: AtomicUsize::new(NOBODY) }
    }

    /// True if nobody is on watch. After a fence.
    pub(crate) fn is_vacant(&self) -> bool {
        // Relaxed: the caller's fence orders it (see Orderings).
        self.who.load(Ordering::Relaxed) == NOBODY
    }

    /// For `worker`, which has announced its sleep and is not on watch: true if it had better not sleep yet.
    /// Also if somebody has just put it there: that one may have missed it, and take it back. `awake`: how
    /// many are.
    pub(crate) fn is_lacking(&self, worker: usize, awake: &AtomicUsize) -> bool {
        if left_out!(DutyBlind) {
            return false;
        }
        // Relaxed: after the fence in `Parking::prepare`.
        let who = self.who.load(Ordering::Relaxed);
        // Relaxed: as above.
        (who == NOBODY || who == worker + 1) && awake.load(Ordering::Relaxed) != 0
    }

    /// For a worker that has got up: true if somebody has put it on watch. What follows may ask
    /// [`is_vacant`](Self::is_vacant).
    pub(crate) fn is_mine(&self, worker: usize) -> bool {
        // StoreLoad race: that the caller is awake, and asleep no more, against `who`; pairs with the fences
        // in `Parking`.
        fence(Ordering::SeqCst);
        // Acquire pairs with the CAS in `appoint`.
        self.who.load(Ordering::Acquire) == worker + 1
    }

    /// Whoever is about to look for somebody to appoint has changed what a sleeper looks at.
    pub(crate) fn before_search() {
        // StoreLoad race: `who`, or how many are awake, against who is asleep; pairs with the fence in
        // `Parking::prepare`.
        fence(Ordering::SeqCst);
    }

    /// Puts `worker` on watch if nobody is; by itself, or by somebody else, who wakes it then. True if it is
    /// the one.
    pub(crate) fn appoint(&self, worker: usize) -> bool {
        // AcqRel pairs with itself and with `is_mine`. Relaxed on failure: somebody else is the one.
        self.who.compare_exchange(NOBODY, worker + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes `worker` off it; false if it was not on watch.
    pub(crate) fn leave(&self, worker: usize) -> bool {
        // AcqRel pairs with itself. Relaxed on failure: nothing is done.
        self.who.compare_exchange(worker + 1, NOBODY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
