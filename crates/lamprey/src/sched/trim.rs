//! Giving the memory of idle stacks back, on two occasions.
//!
//! 1. The last worker that is awake has slept for [`PERIOD`](super::worker::stacks::PERIOD): everything that
//!    is idle goes ([`Worker::trim_all`]).
//! 2. A worker that has a timer every now and then, or is busy, never sleeps that long. So the pool remembers
//!    the fewest stacks that it has had at any moment of a period: those were needed by nobody for as long,
//!    and go in the next period, whatever the workers do. (What workers keep for themselves stays: at most 64
//!    stacks of each size.) It is done by whatever root comes by, a few at a time, so that no host waits for
//!    it: [`BUSY`](super::worker::stacks::BUSY) take some 10 us, [`IDLE`](super::worker::stacks::IDLE), where
//!    a worker is about to sleep, some 100 us.
//!
//! A program that needs many stacks at once again and again, at least once in a period, keeps them.
//!
//! # Orderings
//! `Shared::trimmed` only says whose turn it is to begin a period: Relaxed.
//!
//! # Checked by
//! `tests/idle_trim.rs`, `tests/callouts_trim.rs`.

use super::worker::Worker;
use super::worker::stacks::{PAUSE, POLLS};
use crate::sync_shim::Ordering;

impl Worker {
    /// Called on the root: gives back what was not needed, at most `most` stacks, if it is time for that.
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
        // Relaxed: see the module's text.
        let begun = self.shared.trimmed.load(Ordering::Relaxed);
        if now.wrapping_sub(begun) >= period
            // Relaxed: as above.
            && self.shared.trimmed.compare_exchange(begun, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            pool.begin_period();
        }
        let are_more = pool.trim_unneeded(most) == most;
        let pause = if are_more { self.rounds.poll_every * PAUSE } else { period };
        self.stacks.trimmed.set(now.wrapping_sub(period).wrapping_add(pause));
    }

    /// Called on the root of a worker that has slept for a period.
    pub(super) fn trim_all(&self) {
        self.stacks.untrimmed.set(false);
        drop(self.stacks.parting.take());
        self.free_contexts();
        self.stacks.pool.trim();
        if !self.stopping.get() {
            self.parasites.slab.trim(); // not while a carrier reaps, which enumerates it
        }
    }
}
