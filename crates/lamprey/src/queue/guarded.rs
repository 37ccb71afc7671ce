//! A value under one bit, for sections of a few instructions.
//!
//! # Invariants
//! 1. A section runs no code of the program, does not switch, and does not panic: a kernel thread that finds the bit set
//!    spins for it.
//! 2. The value is reached in sections only.
//!
//! # Orderings
//! The Acquire that sets the bit pairs with the Release store that clears it, which is the last access of a section: what
//! is guarded may be freed after the section in which somebody learns that it may.
//!
//! # Checked by
//! `model::kin` (loom).

use crate::sync_shim::{AtomicBool, Ordering, UnsafeCell, relax};

/// See the module's text.
pub(crate) struct Guarded<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value moves and is reached under the bit, by one kernel thread at a time.
unsafe impl<T: Send> Send for Guarded<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `section` (invariant 1).
    #[inline(always)]
    pub(crate) fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        let mut spins = 0;
        // Acquire pairs with the Release store below. Relaxed on failure: another try follows.
        while self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            relax(&mut spins);
        }
        // SAFETY: the bit is ours.
        let result = self.value.with_mut(|value| section(unsafe { &mut *value }));
        // Release pairs with the Acquire above.
        self.is_taken.store(false, Ordering::Release);
        result
    }
}
