//! How the outcome of a host finds whoever joins it: one word between the host and its handle.
//!
//! # States
//! ```text
//! RUNNING --publish--> DONE        the outcome is the handle's
//! RUNNING --register--> a waiter   the joiner is blocked (or about to)
//! a waiter --publish--> DONE       the host owes the joiner its wake
//! a waiter --unregister--> RUNNING the joiner gave up (cancelled)
//! RUNNING --detach--> DETACHED     the handle is gone; --publish--> the outcome is the host's to drop
//! ```
//!
//! # Invariants
//! 1. The host publishes once; after it has seen anything but DETACHED it never touches the object again.
//! 2. A registered waiter that is a future's holds what [`Waiter::keep`] took: whoever takes it out of the
//!    word uses that up.
//! 3. The handle registers, unregisters and detaches from one thread at a time (it is owned).
//! 4. Exactly one side frees the object: the handle after DONE, the host after DETACHED.
//!
//! # Orderings
//! `publish` is a Release swap (the outcome was written before) and pairs with the handle's Acquire loads; it
//! is also Acquire and pairs with the Release of `register` and `detach`, so that the host sees the joiner's
//! node and may free.
//!
//! # Rejected
//! A reference count (`Arc`): two read-modify-writes for each host more than this one.
//!
//! # Checked by
//! `model::completion` (loom).

use super::waiter::Waiter;
use crate::queue::inbox::Linked;
use crate::sync_shim::{AtomicPtr, Ordering};
use std::ptr::{self, NonNull};

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Completion(pub(super) AtomicPtr<()>);

/// What the host finds when it publishes its outcome.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Published {
    /// The handle will find the outcome.
    Kept,
    /// As `Kept`, and this joiner is owed its wake.
    Owed(Waiter),
    /// The handle is gone: the object is the host's.
    Unwanted,
}

const RUNNING: *mut () = ptr::null_mut();
const DONE: *mut () = ptr::without_provenance_mut(1);
const DETACHED: *mut () = ptr::without_provenance_mut(2);

impl Completion {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(RUNNING))
    }

    /// Host: the outcome has been written.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn publish(&self) -> Published {
        // Release pairs with the Acquire loads in `is_done`, `register` and `unregister`; Acquire with their
        // Release.
        let before = self.0.swap(DONE, Ordering::AcqRel);
        match NonNull::new(before) {
            None => Published::Kept,
            Some(_) if before == DETACHED => Published::Unwanted,
            Some(_) if before == DONE => crate::bug::bug!("a host published two outcomes"),
            Some(waiter) => Published::Owed(<Waiter as Linked>::from_raw(waiter)),
        }
    }

    /// Handle: true once the outcome can be read, and the object is the handle's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire pairs with the Release swap in `publish`.
        self.0.load(Ordering::Acquire) == DONE
    }

    /// Host: true if the handle is gone for certain; then `publish` would say `Unwanted`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_detached(&self) -> bool {
        // Acquire pairs with the Release CAS in `detach`: as the swap in `publish` does, for whoever frees
        // the object.
        self.0.load(Ordering::Acquire) == DETACHED
    }

    /// Handle: asks for a wake; false if the host is done already.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn register(&self, waiter: Waiter) -> bool {
        self.change(RUNNING, Linked::into_raw(waiter))
    }

    /// Handle: takes the request for a wake back; false if the host is done and the wake under way.
    pub(crate) fn unregister(&self, waiter: Waiter) -> bool {
        self.change(Linked::into_raw(waiter), RUNNING)
    }

    /// Handle: gives the object to the host; false if that is done and the object stays with the handle.
    pub(crate) fn detach(&self) -> bool {
        self.forget_future();
        self.change(RUNNING, DETACHED)
    }

    /// Handle: nobody polls any more; what a poll has left in the word would look done to `register` and
    /// `detach`.
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
            // SAFETY: taken back out of the word.
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

/// The waiter that `word` is, if it is one.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn registered(word: *mut ()) -> Option<Waiter> {
    (word != DONE && word != DETACHED).then(|| NonNull::new(word)).flatten().map(Linked::from_raw)
}
