//! The end of a variable, and its references: invariants 1 and 3 of [`var`](super).

use super::Var;
use crate::stm::stamp::Stamp;
use crate::stm::value::{DropWord, Word};
use crate::sync_shim::Ordering;
use std::ptr::{self, NonNull};

impl Var {
    /// The caller, whose handle was the last, has the memory for itself: takes the value out, and gives the
    /// variable a new stamp.
    pub(in crate::stm) fn retire(&self, stamp: Stamp) -> (Word, Option<DropWord>) {
        self.peek();
        // Relaxed: under PEEKED.
        let value = self.value.load(Ordering::Relaxed);
        // Relaxed: under PEEKED.
        self.value.store(ptr::null_mut(), Ordering::Relaxed);
        self.free(stamp.word());
        (value, self.drop_value.take())
    }

    /// The next in a list of unused variables, which is kept where the value was.
    pub(in crate::stm) fn next_unused(&self) -> Option<NonNull<Self>> {
        // Relaxed: the owner of the list is the only user.
        NonNull::new(self.value.load(Ordering::Relaxed).cast())
    }

    pub(in crate::stm) fn set_next_unused(&self, next: Option<NonNull<Self>>) {
        let next = next.map_or(ptr::null_mut(), |next| next.as_ptr().cast());
        // Relaxed: the owner of the list is the only user.
        self.value.store(next, Ordering::Relaxed);
    }

    /// One more handle.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::stm) fn add_ref(&self) {
        // Relaxed: the caller has a handle.
        let before = self.refs.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            std::process::abort();
        }
    }

    /// One more reference, unless the last one has gone.
    pub(in crate::stm) fn try_add_ref(&self) -> bool {
        // Relaxed: a guess, confirmed by the CAS.
        let mut refs = self.refs.load(Ordering::Relaxed);
        while refs != 0 {
            // Relaxed: PEEKED, which the caller has set, orders this against the end of the variable.
            match self.refs.compare_exchange(refs, refs + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => refs = now,
            }
        }
        false
    }

    /// A reference goes; true if it was the last, and the caller must [`retire`](Self::retire) the variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::stm) fn release_ref(&self) -> bool {
        // AcqRel: what was done through the other references comes before the end of the variable.
        self.refs.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
