//! How the parts of a `choose_all` wake its caller: the plain ones all together, with the last.
//!
//! # Invariants
//! 1. `left` is the number of plain parts whose wake is still to come. Until all of them have been offered it
//!    is more, so that nobody brings it to zero; then the caller takes away what was too much. Who brings it
//!    to zero wakes the caller, or is the caller.
//! 2. The caller's waker is here before anything is offered, and again before anything is looked at: a wake
//!    that takes the old one has been preceded by what the look then finds.
//!
//! # Checked by
//! `model::choice_all` (loom, with broken variants).
//!
//! # Orderings
//! A look reads each part's own choice, which says by itself (Acquire) what has happened; `left` only tells
//! when.

use crate::sched::Waiter;
use crate::sync_shim::{AtomicUsize, Mutex, Ordering, left_out};
use std::cell::{Cell, OnceCell};
// (What a `Waker` is made of.)
use std::sync::{Arc, PoisonError};
use std::task::{Context, Wake, Waker};

/// What those who meet the parts know of the caller.
struct Hub {
    left: AtomicUsize,
    caller: Mutex<Option<Waker>>,
}

/// A waker that wakes the caller each time.
struct Prompt(Arc<Hub>);

/// The caller's side of the hub.
pub(super) struct Wakers {
    hub: Arc<Hub>,
    plain: Waker,
    prompt: OnceCell<Waker>,
    /// What was too much (invariant 1); zero once that has been taken away.
    surplus: Cell<usize>,
}

impl Hub {
    /// True for the last ones.
    fn count_down(&self, by: usize) -> bool {
        // AcqRel pairs with itself: the last one comes after all others.
        self.left.fetch_sub(by, Ordering::AcqRel) == by
    }

    /// Not under the lock: a foreign waker may do anything.
    fn wake_caller(&self) {
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).take();
        caller.into_iter().for_each(Waker::wake);
    }
}

impl Wake for Hub {
    fn wake(self: Arc<Self>) {
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
    /// For a caller with so many parts.
    pub(super) fn new(caller: &Waker, parts: usize) -> Self {
        let surplus = parts + 1;
        let hub = Arc::new(Hub { left: AtomicUsize::new(surplus), caller: Mutex::new(Some(caller.clone())) });
        let plain = Waker::from(hub.clone());
        Self { hub, plain, prompt: OnceCell::new(), surplus: Cell::new(surplus) }
    }

    /// The next wake is for `caller`.
    pub(super) fn are_for(&self, caller: &Waker) {
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

    /// For a plain part that is about to be offered: it is counted, until its wake.
    pub(super) fn plain(&self) -> Waiter {
        self.surplus.set(self.surplus.get() - 1);
        waiter(&self.plain)
    }

    /// A part that was counted is won without a wake.
    pub(super) fn is_not_to_come(&self) {
        self.surplus.set(self.surplus.get() + 1);
    }

    /// For another part that is about to be offered.
    pub(super) fn prompt(&self) -> Waiter {
        waiter(self.prompt.get_or_init(|| Waker::from(Arc::new(Prompt(self.hub.clone())))))
    }

    /// All plain parts have been offered. True, once, if their wakes have all come meanwhile, which nobody
    /// else heeds.
    pub(super) fn all_are_out(&self) -> bool {
        let surplus = self.surplus.take();
        surplus != 0 && self.hub.count_down(surplus)
    }
}

fn waiter(waker: &Waker) -> Waiter {
    Waiter::of(&Context::from_waker(waker))
}
