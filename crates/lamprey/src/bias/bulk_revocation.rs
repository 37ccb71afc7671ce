//! Bulk revocation: counts how many of a worker's objects are being revoked, and bounds the cost.
//!
//! One revocation costs revoker and owner together about 16 us, as much as the owner saves in 5,000
//! operations or more. A program that hands out a million objects which their maker has already used would
//! pay that a million times. So for each slot the revocations in a window of [`WINDOW`] are counted, and
//! * every [`CALM`]th also ends the owner's epoch: an object that the owner does not use again needs no
//!   further barrier to be revoked;
//! * from the [`CALM`]th on, objects that have not been used yet become shared;
//! * from the twice [`CALM`]th on, objects that the owner has lost with its epoch become shared too: none is
//!   left that needs a revocation.
//!
//! So at most twice [`CALM`] revocations, besides those that are in progress, happen to a worker in a window.
//!
//! All accesses are Relaxed and all values hints: lost counts change the cost and nothing else.

use crate::sync_shim::Ordering;
use crate::sync_shim::plain::{AtomicU32, AtomicU64};

/// The number of revocations that a window tolerates. 64 of 16 us in 100 ms are about a hundredth of the
/// time.
pub(crate) const CALM: u32 = 64;
/// An hour in unit tests, whose machine may stand still meanwhile.
#[cfg(not(loom))]
const WINDOW: std::time::Duration =
    std::time::Duration::from_millis(if cfg!(test) { 3_600_000 } else { 100 });

/// The count of revocations of one slot.
#[derive(Debug)]
pub(crate) struct BulkRevocation {
    began: AtomicU64,
    count: AtomicU32,
}

impl BulkRevocation {
    pub(super) const fn new() -> Self {
        Self { began: AtomicU64::new(0), count: AtomicU32::new(0) }
    }

    /// Resets the count, for another worker.
    pub(super) fn forget(&self) {
        // Relaxed: a hint, which publishes nothing.
        self.count.store(0, Ordering::Relaxed);
    }

    /// Counts a revocation; true if it must end the epoch.
    pub(crate) fn is_due(&self) -> bool {
        let now = now();
        // Relaxed: a hint, which publishes nothing.
        let is_first = self.is_past(now) || self.count.load(Ordering::Relaxed) == 0;
        if is_first {
            // Relaxed: a hint, which publishes nothing.
            self.began.store(now, Ordering::Relaxed);
            // Relaxed: a hint, which publishes nothing.
            self.count.store(1, Ordering::Relaxed);
            return false;
        }
        // Relaxed: a hint, which publishes nothing.
        self.count.fetch_add(1, Ordering::Relaxed).wrapping_add(1).is_multiple_of(CALM)
    }

    /// True if fewer than `bearable` revocations have happened in this window. Reads the clock only
    /// otherwise.
    pub(super) fn is_below(&self, bearable: u32) -> bool {
        // Relaxed: a hint, which publishes nothing.
        if self.count.load(Ordering::Relaxed) < bearable {
            return true;
        }
        let is_past = self.is_past(now());
        if is_past {
            // Relaxed: a hint, which publishes nothing.
            self.count.store(0, Ordering::Relaxed);
        }
        is_past
    }

    #[cfg(not(loom))]
    fn is_past(&self, now: u64) -> bool {
        // Relaxed: a hint, which publishes nothing. Saturating: the counters of two CPUs may differ a little.
        now.saturating_sub(self.began.load(Ordering::Relaxed)) > crate::time::clock::in_ticks(WINDOW)
    }

    /// Under the checker a window never ends.
    #[cfg(loom)]
    fn is_past(&self, _now: u64) -> bool {
        false
    }
}

#[cfg(not(loom))]
use crate::time::clock::ticks as now;
#[cfg(loom)]
fn now() -> u64 {
    0
}
