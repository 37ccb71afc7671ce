//! How many of a worker's objects are being taken from it: a bound on what that may cost.
//!
//! One revocation costs revoker and owner together about 16 us, as much as the owner saves in 5,000
//! operations or more. A program that hands out a million objects which their maker has already used would
//! pay that a million times. So for each slot the revocations of a window of [`WINDOW`] are counted, and
//! * every [`CALM`]th also ends the owner's tenure: what the owner does not use again in the meantime costs
//!   no barrier any more;
//! * from the [`CALM`]th on, what nobody has used yet becomes shared;
//! * from the twice [`CALM`]th on, what the owner has lost with its tenure does, too: there is nothing left
//!   to be revoked.
//!
//! So at most twice [`CALM`] revocations, and those that are under way, happen to a worker in a window.
//!
//! All of it is Relaxed and a hint: counts that get lost change what it costs, nothing else.

use crate::sync_shim::Ordering;
use crate::sync_shim::plain::{AtomicU32, AtomicU64};

/// How many revocations a window bears. 64 of 16 us in 100 ms are about a hundredth of the time.
pub(crate) const CALM: u32 = 64;
#[cfg(not(loom))]
const WINDOW: std::time::Duration = std::time::Duration::from_millis(100);

/// The revocations of one slot. See the module's text.
#[derive(Debug)]
pub(crate) struct Storm {
    began: AtomicU64,
    count: AtomicU32,
}

impl Storm {
    pub(super) const fn new() -> Self {
        Self { began: AtomicU64::new(0), count: AtomicU32::new(0) }
    }

    /// Another worker has the slot.
    pub(super) fn forget(&self) {
        // Relaxed: a hint (see the module's text), as is everything below.
        self.count.store(0, Ordering::Relaxed);
    }

    /// Counts a revocation; true if it is to end the tenure.
    pub(crate) fn is_due(&self) -> bool {
        let now = now();
        // Relaxed: as above.
        let is_first = self.is_past(now) || self.count.load(Ordering::Relaxed) == 0;
        if is_first {
            // Relaxed: as above.
            self.began.store(now, Ordering::Relaxed);
            // Relaxed: as above.
            self.count.store(1, Ordering::Relaxed);
            return false;
        }
        // Relaxed: as above.
        self.count.fetch_add(1, Ordering::Relaxed).wrapping_add(1).is_multiple_of(CALM)
    }

    /// True if fewer than `bearable` revocations have happened in this window. The clock is read only if not.
    pub(super) fn is_below(&self, bearable: u32) -> bool {
        // Relaxed: as above.
        if self.count.load(Ordering::Relaxed) < bearable {
            return true;
        }
        let is_past = self.is_past(now());
        if is_past {
            // Relaxed: as above.
            self.count.store(0, Ordering::Relaxed);
        }
        is_past
    }

    #[cfg(not(loom))]
    fn is_past(&self, now: u64) -> bool {
        // Relaxed: as above. Saturating: the counters of two CPUs may differ a little.
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
