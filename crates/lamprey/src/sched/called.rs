//! When a sleeping worker was called: from this it learns how long messages let it wait, and what a wake costs on this
//! machine ([`spin`](super::worker::spin)).
//!
//! # Orderings
//! The time is a hint, so all accesses are Relaxed: one that is seen late, or belongs to an earlier sleep, is refused by
//! [`Called::since`] or makes one spin too short.

use crate::sync_shim::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time of the last call.
pub(super) struct Called {
    born: Instant,
    /// In nanoseconds since `born`.
    at: AtomicU64,
}

impl Called {
    pub(super) fn new() -> Self {
        Self { born: Instant::now(), at: AtomicU64::new(0) }
    }

    /// Caller, who has claimed the sleep and notifies next.
    pub(super) fn now(&self) {
        // Relaxed: a hint.
        self.at.store(self.born.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Sleeper: the time of the call that ended a sleep which began at `start`; none if no call has come since.
    pub(super) fn since(&self, start: Instant) -> Option<Instant> {
        // Relaxed: a hint.
        let at = self.born + Duration::from_nanos(self.at.load(Ordering::Relaxed));
        (at >= start).then_some(at)
    }
}
