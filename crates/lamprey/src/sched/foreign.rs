//! A foreign waker in a box, for the words ([`Waiter`](super::waiter::Waiter)) that own it: one, but in a
//! `choose_all` one for each part that waits.
//!
//! # Invariants
//! 1. Each word is used once: it wakes, or is forgotten. The one that is used last frees the box.
//! 2. All words are made with the box. So one that reads a count of 1 is the last.
//!
//! # Orderings
//! `words` is counted down with AcqRel, and read with Acquire: what the other words did with the waker comes
//! before the box is freed.
//!
//! # Checked by
//! `model::choice_all` (loom: two peers and the caller; a broken variant).

use super::guard;
use super::parasite::task::{Form, Task};
use crate::sync_shim::{AtomicUsize, Ordering, left_out};
use std::ptr::NonNull;
use std::task::Waker;

/// See the top of this file.
pub(crate) struct Foreign {
    waker: Waker,
    words: Words,
}

/// The words that have not been used.
struct Words(AtomicUsize);

impl Foreign {
    pub(super) fn boxed(waker: Waker, words: usize) -> NonNull<Self> {
        NonNull::from(Box::leak(Box::new(Self { waker, words: Words(AtomicUsize::new(words)) })))
    }

    pub(crate) fn will_wake(&self, waker: &Waker) -> bool {
        self.waker.will_wake(waker)
    }

    /// The box, if no other words than the caller's are left.
    ///
    /// # Safety
    /// The caller has so many words, and uses them up if this gives the box.
    unsafe fn alone(this: NonNull<Self>, words: usize) -> Option<Box<Self>> {
        // SAFETY: the caller's words keep the box alive.
        let count = &unsafe { this.as_ref() }.words.0;
        // Acquire: see Orderings. (Relaxed in a broken variant.)
        let order = if left_out!(ForeignOrder) { Ordering::Relaxed } else { Ordering::Acquire };
        // SAFETY: no other word is left, and none is made (invariant 2).
        (count.load(order) == words).then(|| unsafe { Box::from_raw(this.as_ptr()) })
    }

    /// Calls the waker, and uses up a word; if a parasite is behind the waker, wakes that directly.
    ///
    /// # Safety
    /// The word is the caller's.
    #[cold]
    pub(super) unsafe fn wake(this: NonNull<Self>, form: Form) {
        // SAFETY: the caller's word, which is used up here.
        crate::bug::no_unwind("a waker", || match unsafe { Self::alone(this, 1) } {
            Some(foreign) => match Task::of_waker(&foreign.waker) {
                // SAFETY: the waker holds a reference.
                Some(task) => unsafe { Task::wake(task, form) },
                None => call_out(|| foreign.waker.wake()),
            },
            None => {
                // SAFETY: the caller's word keeps the box alive.
                call_out(|| unsafe { this.as_ref() }.waker.wake_by_ref());
                // SAFETY: the caller's word, which is not used again.
                unsafe { Self::forget(this, 1) };
            }
        });
    }

    /// Uses up `words` without a wake.
    ///
    /// # Safety
    /// They are the caller's.
    pub(super) unsafe fn forget(this: NonNull<Self>, words: usize) {
        // SAFETY: the caller's words.
        let last = unsafe { Self::alone(this, words) }.or_else(|| {
            // AcqRel: see Orderings. (Relaxed in a broken variant.)
            let order = if left_out!(ForeignOrder) { Ordering::Relaxed } else { Ordering::AcqRel };
            // SAFETY: the caller's words keep the box alive until they are subtracted; then it is the
            // caller's if no other is left, and none is made (invariant 2).
            unsafe {
                let are_last = this.as_ref().words.0.fetch_sub(words, order) == words;
                are_last.then(|| Box::from_raw(this.as_ptr()))
            }
        });
        if let Some(last) = last {
            crate::bug::no_unwind("a waker", || call_out(|| drop(last)));
        }
    }
}

/// Calls a function of a waker, which must not switch: the caller may have more threads to wake.
fn call_out(code: impl FnOnce()) {
    guard::no_switch("a waker", code);
}

/// Asserts to the checker that no other thread accesses it any more.
#[cfg(loom)]
impl Drop for Words {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}
