//! How the parts of a `choose_all` wake its caller: the plain ones once, with the last of them.
//!
//! # Invariants
//! 1. `left` is the number of plain parts whose wake has not come. Until all of them have been offered it is
//!    higher by a surplus, so that no wake brings it to zero; then the caller subtracts the surplus. The
//!    thread that brings it to zero wakes the caller, or is the caller.
//! 2. The caller's waker is stored here before anything is offered, and again before each check of the parts:
//!    if a wake takes the previous waker, the check sees what that wake reported.
//!
//! # Checked by
//! `model::choice_all` (loom, with broken variants).
//!
//! # Orderings
//! A check reads each part's own choice (Acquire), which says what has happened; `left` only determines when
//! the caller is woken.

use crate::sched::Waiter;
use crate::sync_shim::{AtomicUsize, Mutex, Ordering, left_out};
use std::cell::{Cell, OnceCell};
// (The types that a `Waker` is made from.)
use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};

/// The part that the peers of the parts access.
struct Hub {
    left: AtomicUsize,
    caller: Mutex<Option<Waker>>,
}

/// A waker that wakes the caller each time.
struct Prompt(Arc<Hub>);

/// The caller's side of the hub.
pub(super) struct Wakers {
    hub: Arc<Hub>,
    /// The waiter of each plain part: as many words, and one that stays here.
    plain: Waiter,
    /// The words that are here.
    words: Cell<usize>,
    prompt: OnceCell<Waker>,
    /// The surplus (invariant 1); zero once it has been subtracted.
    surplus: Cell<usize>,
}

impl Hub {
    /// Subtracts `by`; true if that brings the count to zero.
    fn count_down(&self, by: usize) -> bool {
        // AcqRel pairs with itself: the last decrement comes after all others.
        self.left.fetch_sub(by, Ordering::AcqRel) == by
    }

    /// Wakes without the lock, because a foreign waker may run any code.
    fn wake_caller(&self) {
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).take();
        caller.into_iter().for_each(Waker::wake);
    }
}

impl Wake for Hub {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.count_down(1) {
            self.wake_caller();
        }
    }
}

impl Wake for Prompt {
    fn wake(self: Arc<Self>) {
        self.0.wake_caller();
    }
}

impl Wakers {
    /// The wakers for a caller with this many parts.
    pub(super) fn new(caller: &Waker, parts: usize) -> Self {
        let surplus = parts + 1;
        let hub = Arc::new(Hub { left: AtomicUsize::new(surplus), caller: Mutex::new(Some(caller.clone())) });
        let words = parts + 1;
        let plain = Waiter::many(Waker::from(hub.clone()), words);
        let (words, surplus) = (Cell::new(words), Cell::new(surplus));
        Self { hub, plain, words, prompt: OnceCell::new(), surplus }
    }

    /// Sets the waker of the caller for the next wake.
    pub(super) fn set_waker(&self, caller: &Waker) {
        if left_out!(HubCaller) {
            return;
        }
        let place = || self.hub.caller.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = place().as_ref().is_some_and(|old| old.will_wake(caller));
        if !is_there {
            let new = caller.clone();
            let old = place().replace(new);
            drop(old);
        }
    }

    /// The waiter of a plain part that is about to be offered; its wake is counted.
    pub(super) fn plain(&self) -> Waiter {
        self.surplus.set(self.surplus.get() - 1);
        match self.words.get() {
            0 | 1 => crate::bug::bug!("a plain part was offered twice"),
            words => self.words.set(words - 1),
        }
        self.plain
    }

    /// A part that was counted has won without a wake.
    pub(super) fn is_not_to_come(&self) {
        self.surplus.set(self.surplus.get() + 1);
    }

    /// The waiter of another part that is about to be offered.
    pub(super) fn prompt(&self) -> Waiter {
        let waker = self.prompt.get_or_init(|| Waker::from(Arc::new(Prompt(self.hub.clone()))));
        Waiter::many(waker.clone(), 1)
    }

    /// All plain parts have been offered. True, once, if all their wakes have come before this call; the
    /// caller must then check the parts itself.
    pub(super) fn all_are_out(&self) -> bool {
        let surplus = self.surplus.take();
        surplus != 0 && self.hub.count_down(surplus)
    }
}

impl Drop for Wakers {
    fn drop(&mut self) {
        // SAFETY: those that no part was given.
        unsafe { self.plain.forget_many(self.words.get()) };
    }
}
