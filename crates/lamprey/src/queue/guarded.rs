//! A value under a spin bit, for sections of a few instructions.
//!
//! # States (`is_taken`)
//! ```text
//! false --with--> true     a section works on the value
//! true --its end--> false
//! ```
//! # Invariants
//! 1. A section runs no code of the program, does not switch, and does not panic: a kernel thread that finds
//!    the bit set spins until it is clear.
//! 2. The value is accessed in sections only.
//!
//! # Orderings
//! The Acquire that sets the bit pairs with the Release store that clears it. That store is the last access
//! of a section, so a thread that learns in a section that the value is unused may free it afterwards.
//!
//! # Rejected
//! * One pause between two CASes: each takes the cache line from the section. 40 producers and 40 consumers of
//!   a bounded channel with 50 places, on two workers, then take 5 to 20 times as long.
//! * To begin with 64 pauses: hosts that compute for some 300 ns between two operations lose 10 %.
//!
//! # Checked by
//! `model::gate`, `model::scope_state` (loom, with a broken variant).

use crate::sync_shim::{AtomicBool, MutPtr, Ordering, UnsafeCell, back_off, left_out};

/// A value under a spin bit.
pub(crate) struct Guarded<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is accessed under the bit, by one kernel thread at a time, so `T: Send` suffices.
unsafe impl<T: Send> Send for Guarded<T> {}
// SAFETY: the value is accessed under the bit, by one kernel thread at a time, so `T: Send` suffices.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The checker's atomics have no constants.
    #[cfg(loom)]
    pub(crate) fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `section` (invariant 1).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        let mut entered = self.enter();
        section(entered.value())
    }

    /// Begins a section (invariant 1). For sections that must be inlined: a closure is not, if it is large and has
    /// several callers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn enter(&self) -> Entered<'_, T> {
        // Acquire pairs with the Release store of `Bit`. Relaxed on failure: the CAS is retried.
        if self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.enter_slowly();
        }
        Entered { value: self.value.get_mut(), _bit: Bit(&self.is_taken) }
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self) {
        let mut rounds = 0;
        loop {
            back_off(&mut rounds);
            // Relaxed: a guess, confirmed by the CAS, which would take the cache line from the section.
            if !self.is_taken.load(Ordering::Relaxed)
                // Acquire pairs with the Release store of `Bit`. Relaxed on failure: the CAS is retried.
                && self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
        }
    }
}

/// A section, until this is dropped: the access ends first, then the bit is cleared.
pub(crate) struct Entered<'a, T> {
    value: MutPtr<T>,
    _bit: Bit<'a>,
}

impl<T> Entered<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn value(&mut self) -> &mut T {
        // SAFETY: this thread has set the bit, so no other thread accesses the value; the only way to it in this
        // section is borrowed.
        unsafe { self.value.deref() }
    }
}

/// The bit, which this thread has set.
struct Bit<'a>(&'a AtomicBool);

impl Drop for Bit<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if left_out!(GateUnlock) {
            // Relaxed: the broken variant, which orders nothing.
            return self.0.store(false, Ordering::Relaxed);
        }
        // Release pairs with the Acquire CAS in `enter` and `enter_slowly`.
        self.0.store(false, Ordering::Release);
    }
}
