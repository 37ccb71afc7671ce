//! [`Completion`]: how the outcome of a thread reaches its joiner: one word shared by the thread and its
//! handle.
//!
//! # States
//! ```text
//! RUNNING --publish--> DONE        the outcome is the handle's
//! RUNNING --register--> a waiter   the joiner is blocked (or about to)
//! a waiter --publish--> DONE       the host must wake the joiner
//! a waiter --unregister--> RUNNING the joiner gave up (cancelled)
//! RUNNING --detach--> DETACHED     the handle is gone; --publish--> the host drops the outcome
//! ```
//!
//! # Invariants
//! 1. The host publishes once; unless it found DETACHED it never touches the object again.
//! 2. A registered waiter of a future holds what [`Waiter::keep`] took: the side that takes the waiter out of
//!    the word uses that up.
//! 3. The handle registers, unregisters and detaches from one thread at a time (it is owned).
//! 4. Exactly one side frees the object: the handle after DONE, the host after DETACHED.
//!
//! # Orderings
//! `publish` is a Release swap (the outcome was written before) and pairs with the handle's Acquire loads; it
//! is also Acquire and pairs with the Release of `register` and `detach`, so that the host sees the joiner's
//! node and may free.
//!
//! # Rejected
//! A reference count (`Arc`): two more read-modify-writes for each host than this one.
//!
//! # Checked by
//! `model::completion` (loom).

use super::waiter::Waiter;
use crate::queue::inbox::Linked;
use crate::sync_shim::{AtomicPtr, Ordering};
use std::ptr::{self, NonNull};

/// The word between a thread and its handle.
#[derive(Debug)]
pub(crate) struct Completion(pub(super) AtomicPtr<()>);

/// What the host finds when it publishes its outcome.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Published {
    /// The handle will find the outcome.
    Kept,
    /// As `Kept`, and the host must wake this joiner.
    PendingWake(Waiter),
    /// The handle is gone: the host owns the object.
    Unwanted,
}

/// How a wait with a deadline has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The outcome can be read.
    Done,
    TimedOut,
    /// The caller has been cancelled, and is to unwind. The outcome may be there.
    Cancelled,
    /// The caller unwinds and must not block.
    Unwinding,
}

const RUNNING: *mut () = ptr::null_mut();
const DONE: *mut () = ptr::without_provenance_mut(1);
const DETACHED: *mut () = ptr::without_provenance_mut(2);

impl Completion {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(RUNNING))
    }

    /// Host: publishes the outcome, which has been written.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn publish(&self) -> Published {
        // Release pairs with the Acquire loads in `is_done`, `register` and `unregister`; Acquire with their
        // Release.
        let before = self.0.swap(DONE, Ordering::AcqRel);
        match NonNull::new(before) {
            None => Published::Kept,
            Some(_) if before == DETACHED => Published::Unwanted,
            Some(_) if before == DONE => crate::bug::bug!("a host published two outcomes"),
            Some(waiter) => Published::PendingWake(<Waiter as Linked>::from_raw(waiter)),
        }
    }

    /// Handle: true once the outcome can be read and the handle owns the object.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire pairs with the Release swap in `publish`.
        self.0.load(Ordering::Acquire) == DONE
    }

    /// Host: true if the handle is gone; then `publish` would return `Unwanted`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_detached(&self) -> bool {
        // Acquire pairs with the Release CAS in `detach`, as the swap in `publish` does: the object may be
        // freed after it.
        self.0.load(Ordering::Acquire) == DETACHED
    }

    /// Handle: registers a waiter; false if the host has published already. (Tested first: the scheduling point
    /// before a wait often runs what is waited for, and a CAS that fails costs as much as one that does not.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn register(&self, waiter: Waiter) -> bool {
        !self.is_done() && self.change(RUNNING, Linked::into_raw(waiter))
    }

    /// Handle: takes the waiter back; false if the host has published and the wake is under way.
    pub(crate) fn unregister(&self, waiter: Waiter) -> bool {
        self.change(Linked::into_raw(waiter), RUNNING)
    }

    /// Handle: gives the object to the host; false if the host has published and the object stays with the
    /// handle.
    pub(crate) fn detach(&self) -> bool {
        self.forget_future();
        self.change(RUNNING, DETACHED)
    }

    /// Handle: takes back the waiter of the last poll. `register` and `detach` expect RUNNING and would take
    /// it for DONE.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn forget_future(&self) {
        // Acquire pairs with the Release swap in `publish`.
        let word = self.0.load(Ordering::Acquire);
        if let Some(old) = registered(word) {
            self.take_back(old);
        }
    }

    #[cold]
    fn take_back(&self, old: Waiter) {
        if self.unregister(old) {
            // SAFETY: the word was taken back, so this is its only copy.
            unsafe { old.forget() };
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change(&self, from: *mut (), to: *mut ()) -> bool {
        // Release pairs with the Acquire half of the swap in `publish`; Acquire on failure with its Release
        // half.
        self.0.compare_exchange(from, to, Ordering::Release, Ordering::Acquire).is_ok()
    }
}

/// The waiter in `word`, if there is one.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn registered(word: *mut ()) -> Option<Waiter> {
    (word != DONE && word != DETACHED).then(|| NonNull::new(word)).flatten().map(Linked::from_raw)
}
