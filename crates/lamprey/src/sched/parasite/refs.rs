//! [`Refs`]: who may still touch a parasite whose task and handle have ended.
//!
//! # Invariants
//! 1. The memory is freed once: by the structural owner if there is no reference, else by the thread that drops the last reference after
//!    ORPHAN was set.
//! 2. Only the holder of a reference, or the owner, makes another reference.
//!
//! # Orderings
//! As the count of an `Arc`: the thread that frees sees what all others did.
//!
//! # Checked by
//! `model::life` (loom, with a broken variant that it catches).

use crate::sync_shim::{AtomicU32, Ordering};

/// The structural owner has given up its claim.
const ORPHAN: u32 = 1 << 31;
/// The task has a number ([`super::number`]). Never taken back.
const NUMBERED: u32 = 1 << 30;
/// The most references that there may be.
const MOST: u32 = NUMBERED / 2;

/// A reference count beside one structural owner, whose claim is not counted.
#[derive(Debug)]
pub(crate) struct Refs(AtomicU32);

impl Refs {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn any(&self) -> bool {
        // Acquire pairs with `release`: the caller is the only one that could make the first reference, and
        // frees if there is none.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Takes a reference.
    pub(crate) fn retain(&self) {
        // Relaxed: the caller already keeps the object alive, as with `Arc`.
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        if before & (NUMBERED - 1) > MOST {
            // A leaked count must not overflow, as with `Arc`. The bound is so far from the flags that
            // all threads that add at the same time do not reach them.
            crate::bug::say!("a parasite has more than {MOST} wakers: are they forgotten?");
            std::process::abort();
        }
    }

    /// Drops a reference; true if the caller must now free the memory.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        // AcqRel pairs with itself and with `drop_owner`: the thread that frees sees what all others did.
        self.0.fetch_sub(1, Ordering::AcqRel) & !NUMBERED == ORPHAN | 1
    }

    /// Drops the structural owner's claim; true if the caller must now free the memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub(crate) fn drop_owner(&self) -> bool {
        // Acquire pairs with `release`. Zero stays zero: only the holder of a reference or the owner makes a
        // new one.
        if self.0.load(Ordering::Acquire) == 0 {
            return true;
        }
        // AcqRel pairs with `release`.
        self.0.fetch_or(ORPHAN, Ordering::AcqRel) & !NUMBERED == 0
    }

    /// Notes that there is an entry.
    pub(super) fn set_numbered(&self) {
        // Relaxed (both): whoever frees the memory sees it (`number`, Orderings).
        if self.0.load(Ordering::Relaxed) & NUMBERED == 0 {
            self.0.fetch_or(NUMBERED, Ordering::Relaxed);
        }
    }

    pub(super) fn is_numbered(&self) -> bool {
        // Relaxed: whoever has set it has given its claim up since, which the caller has acquired.
        self.0.load(Ordering::Relaxed) & NUMBERED != 0
    }

    /// For loom: the memory is freed; any later access is an error.
    #[cfg(loom)]
    pub(super) fn free(&self) {
        self.0.free();
    }
}
