//! The inbox of a worker: other kernel threads push entries, the worker takes all of them at once.
//!
//! # States
//! `head` is null (empty), a list of entries linked through [`Linked::link`] (newest first), or `CLOSED`. An
//! entry is a word (a tagged pointer), not a reference: threads and stackless parasites use the same inbox.
//!
//! # Invariants
//! 1. An entry is in at most one inbox, and its link is written only by the pusher before its CAS succeeds
//!    and read only by the receiver after its swap.
//! 2. Once `CLOSED`, always `CLOSED`: a push then fails and the entry stays with the caller.
//!
//! # Who may touch what
//! Any thread pushes. Only the owning worker calls `take` and `close`; while it computes, another may
//! `take_away`, and push back the entries that are not for it. (Entries that were pushed in between are then
//! ahead of these: the order of two pushes is not guaranteed.)
//!
//! # Orderings
//! The push's Release CAS pairs with the Acquire swap in `take`/`close`: what the pusher wrote into the
//! entry, and everything it did before, is visible to the receiver.
//!
//! # Rejected
//! A bounded ring with slots (needs a fallback when full); a mutex around a `Vec` (a preempted pusher would
//! stop the worker).
//!
//! # Checked by
//! `model::inbox` (loom), `tests/stress/mixed.rs`.

use crate::sync_shim::{AtomicPtr, Cell, Ordering, left_out};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// A word that represents an object with a link for one inbox.
///
/// # Safety
/// `into_raw` and `from_raw` are inverse, never null and never 1; `link` always gives the same cell of the
/// object, used by nothing but the inbox while the object is in it.
pub(crate) unsafe trait Linked: Copy {
    fn into_raw(self) -> *mut ();
    fn from_raw(raw: NonNull<()>) -> Self;
    /// # Safety
    /// The object is alive for `'a`.
    unsafe fn link<'a>(self) -> &'a Cell<*mut ()>;
}

/// The inbox of one worker.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    head: AtomicPtr<()>,
    entries: PhantomData<*mut T>,
}

// SAFETY: the inbox moves only words; `push` is unsafe and requires that the object behind a word may change
// its kernel thread.
unsafe impl<T> Send for Inbox<T> {}
// SAFETY: the only shared state is the atomic head; `push` requires that the objects may change their kernel
// thread.
unsafe impl<T> Sync for Inbox<T> {}

fn closed() -> *mut () {
    ptr::without_provenance_mut(1)
}

impl<T: Linked> Inbox<T> {
    pub(crate) fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), entries: PhantomData }
    }

    /// Pushes `entry`; returns it when the inbox is closed.
    ///
    /// # Safety
    /// `entry` is valid until the receiver is done with it, is in no inbox, and the caller gives up its
    /// access.
    pub(crate) unsafe fn push(&self, entry: T) -> Result<(), T> {
        // Relaxed: the value is only a guess, checked by the CAS below.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == closed() {
                return Err(entry);
            }
            // SAFETY: the caller still owns `entry` (contract) until the CAS succeeds.
            unsafe { entry.link() }.set(head);
            // Release pairs with the Acquire swap in `take` and `close`. Relaxed on failure: only a new
            // guess.
            match self.head.compare_exchange_weak(
                head,
                entry.into_raw(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => head = now,
            }
        }
    }

    /// True when the inbox is empty or closed: a hint, except after a StoreLoad fence.
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: a hint; the parking protocol has its own SeqCst fence before this load.
        let head = self.head.load(Ordering::Relaxed);
        head.is_null() || head == closed()
    }

    /// Takes all entries, oldest first.
    pub(crate) fn take(&self) -> Taken<T> {
        if self.is_empty() {
            return Taken { next: ptr::null_mut(), entries: PhantomData };
        }
        // Acquire pairs with the Release CAS in `push`.
        Taken::reversed(self.head.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// For a worker that is not the owner: takes all entries, oldest first; nothing if the inbox is closed.
    pub(crate) fn take_away(&self) -> Taken<T> {
        // Relaxed: the value is only a guess, checked by the CAS below.
        let mut head = self.head.load(Ordering::Relaxed);
        // Not a swap: that would reopen a closed inbox.
        while !head.is_null() && head != closed() {
            if left_out!(InboxOpen) {
                // Acquire: the broken variant.
                return Taken::reversed(self.head.swap(ptr::null_mut(), Ordering::Acquire));
            }
            // Acquire pairs with the Release CAS in `push`. ABA is harmless: if the same entry has been taken
            // and pushed again since the guess, its link is still read after the CAS. Relaxed on failure:
            // only a new guess.
            match self.head.compare_exchange_weak(head, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(newest) => return Taken::reversed(newest),
                Err(now) => head = now,
            }
        }
        Taken { next: ptr::null_mut(), entries: PhantomData }
    }

    /// Refuses further entries and takes those that are in the inbox.
    pub(crate) fn close(&self) -> Taken<T> {
        // Acquire pairs with the Release CAS in `push`.
        Taken::reversed(self.head.swap(closed(), Ordering::Acquire))
    }
}

/// Entries that have been taken out of an inbox, oldest first.
pub(crate) struct Taken<T> {
    next: *mut (),
    entries: PhantomData<*mut T>,
}

impl<T: Linked> Taken<T> {
    fn reversed(mut newest: *mut ()) -> Self {
        let mut oldest: *mut () = ptr::null_mut();
        if newest == closed() {
            newest = ptr::null_mut();
        }
        while let Some(entry) = NonNull::new(newest) {
            // SAFETY: the swap took this whole chain, so no other thread accesses it; entries are valid until
            // the receiver is done.
            let link = unsafe { T::from_raw(entry).link() };
            newest = link.replace(oldest);
            oldest = entry.as_ptr();
        }
        Self { next: oldest, entries: PhantomData }
    }
}

impl<T: Linked> Iterator for Taken<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        let entry = T::from_raw(NonNull::new(self.next)?);
        // SAFETY: the entry is in the chain that was taken, and valid until the receiver is done; its link is
        // read before the caller may push it elsewhere.
        self.next = unsafe { entry.link() }.replace(ptr::null_mut());
        Some(entry)
    }
}
