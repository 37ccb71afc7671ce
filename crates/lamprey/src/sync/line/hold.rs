//! The steps of a line whose state is only HELD: taking and releasing it without EDIT.

use super::{EDIT, HELD, Line, WOKEN, bits, last};
use crate::bias::Access;
use crate::channel::slot;
use crate::sync_shim::{Ordering, relax};
use std::ptr;

impl<S> Line<S> {
    /// Sets HELD if it is not set and no thread waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn try_hold(&self) -> bool {
        if !self.bias.is_shared() {
            return self.change_if_owned(0, HELD);
        }
        let held = ptr::without_provenance_mut(HELD);
        // Acquire pairs with the Release CAS in `let_go`, and the Release store at the end of an EDIT.
        // Relaxed on failure: nothing read.
        self.word.compare_exchange(ptr::null_mut(), held, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Changes the word by a plain store, if the calling worker owns the line and the word is `from`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change_if_owned(&self, from: usize, to: usize) -> bool {
        // SAFETY: the slot is this kernel thread's, and nothing in a section enters another.
        let Access::Owner(_section) = (unsafe { self.bias.enter(slot()) }) else { return false };
        // Relaxed: no other thread is in the section; the bias orders it with the sections before and after.
        let is_from = self.word.load(Ordering::Relaxed).addr() == from;
        if is_from {
            // Relaxed: within the section, which the bias orders with the others.
            self.word.store(ptr::without_provenance_mut(to), Ordering::Relaxed);
        }
        is_from
    }

    /// [`try_hold`](Self::try_hold) that ignores waiters.
    pub(crate) fn barge(&self) -> bool {
        self.share();
        let mut spins = 0;
        loop {
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if bits(word) & HELD != 0 {
                return false;
            }
            let held = word.map_addr(|addr| addr | HELD);
            // Acquire pairs with the Release in `let_go` and at the end of an EDIT. Relaxed on failure:
            // nothing read.
            if bits(word) & EDIT == 0
                && self.word.compare_exchange(word, held, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return true;
            }
            relax(&mut spins);
        }
    }

    /// Clears HELD if no thread waits; otherwise does nothing and returns false.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn let_go(&self) -> bool {
        if !self.bias.is_shared() {
            return self.let_go_if_owned();
        }
        let held = ptr::without_provenance_mut(HELD);
        // Release pairs with the Acquire CASes that take HELD or EDIT. Relaxed on failure: nothing read.
        self.word.compare_exchange(held, ptr::null_mut(), Ordering::Release, Ordering::Relaxed).is_ok()
    }

    // Not inlined, so that the drop of a guard is small enough to be.
    #[inline(never)]
    fn let_go_if_owned(&self) -> bool {
        self.change_if_owned(HELD, 0)
    }

    /// [`let_go`](Self::let_go) that also succeeds if a waiter was woken to try again: that one serves the
    /// others.
    pub(crate) fn let_go_to_woken(&self) -> bool {
        self.share();
        let mut spins = 0;
        loop {
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if bits(word) & EDIT == 0 {
                if bits(word) & WOKEN == 0 && !last(word).is_null() {
                    return false;
                }
                let free = word.map_addr(|addr| addr & !HELD);
                // Release pairs with the Acquire CASes that take HELD or EDIT. Relaxed on failure: nothing
                // read.
                if self.word.compare_exchange(word, free, Ordering::Release, Ordering::Relaxed).is_ok() {
                    return true;
                }
            }
            relax(&mut spins);
        }
    }
}
