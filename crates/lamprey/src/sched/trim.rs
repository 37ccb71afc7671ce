//! Giving the memory of idle stacks back to the system, on two occasions.
//!
//! 1. No other worker is awake, and this one has slept for [`PERIOD`](super::worker::stacks::PERIOD): the
//!    memory of its idle stacks and of those in the shared pool is given back ([`Worker::trim_all`]).
//! 2. A worker with a periodic timer, or a busy one, never sleeps that long. So the pool records the smallest
//!    number of stacks that it held at any moment of a period: that many were not needed in the period, and
//!    are given back in the next one, whatever the workers do. (What the workers keep for themselves stays:
//!    at most 64 stacks of each size.) Any root does this, a few stacks at a time, so that no host waits
//!    long: a batch of [`BUSY`](super::worker::stacks::BUSY) takes some 10 us, one of
//!    [`IDLE`](super::worker::stacks::IDLE), on a worker that is about to sleep, some 100 us.
//!
//! A program that needs many stacks at once again and again, at least once in a period, keeps them.
//!
//! # Orderings
//! `Shared::trimmed` carries no data: its CAS only decides which worker begins a period. Relaxed.
//!
//! # Checked by
//! `tests/idle_trim.rs`, `tests/callouts_trim.rs`.

use super::worker::Worker;
use super::worker::stacks::{PAUSE, POLLS};
use crate::sync_shim::Ordering;

impl Worker {
    /// Called on the root: gives back unneeded stacks, at most `most`, if that is due.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn trim_if_due(&self, now: u64, most: usize) {
        if now.wrapping_sub(self.stacks.trimmed.get()) >= self.rounds.poll_every * POLLS {
            self.trim_some(now, most);
        }
    }

    #[cold]
    #[inline(never)]
    fn trim_some(&self, now: u64, most: usize) {
        let (period, pool) = (self.rounds.poll_every * POLLS, self.stacks.pool.shared());
        // Relaxed: carries no data (see Orderings).
        let begun = self.shared.trimmed.load(Ordering::Relaxed);
        if now.wrapping_sub(begun) >= period
            // Relaxed: carries no data; one worker's CAS succeeds.
            && self.shared.trimmed.compare_exchange(begun, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            pool.begin_period();
        }
        let are_more = pool.trim_unneeded(most) == most;
        let pause = if are_more { self.rounds.poll_every * PAUSE } else { period };
        self.stacks.trimmed.set(now.wrapping_sub(period).wrapping_add(pause));
    }

    /// Called on the root of a worker that has slept for a period: gives back the memory of everything idle,
    /// here and in the shared pool of stacks.
    pub(super) fn trim_all(&self) {
        self.stacks.untrimmed.set(false);
        drop(self.stacks.parting.take());
        self.free_contexts();
        self.stacks.pool.trim();
        if !self.stopping.get() {
            // (A carrier that reaps enumerates the slabs.)
            self.parasites.slab.trim();
            self.remote.outside.tend(|slab| _ = slab.0.trim());
        }
    }
}
