//! What a kernel thread keeps for its transactions.
//!
//! # Invariants
//! 1. A kernel thread has one transaction at a time: from `begin` to `end` no other thread runs on it, as code
//!    in a transaction cannot switch ([`sched::guard`](crate::sched::guard)).
//! 2. `seen[s]` is the clock of a commit of seat `s` that is known to be over; all earlier ones are over too
//!    ([`seat`](super::seat), invariant 1), and what they did is visible to this thread.
//! 3. A variable whose last handle goes within a transaction of this thread ends after that transaction: it may
//!    have been read by it, and a stamp that changed would make it start again, for ever.

#[cfg(not(loom))]
use super::seat::Seats;
use super::seat::SeatsRef;
use super::stamp::{SEATS, Stamp};
use super::var::Var;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// See the top of this file.
pub(crate) struct Local {
    pub(super) seats: SeatsRef,
    pub(super) seat: usize,
    seen: [Cell<u64>; SEATS],
    in_transaction: Cell<bool>,
    /// Invariant 3. `has_dying` is false if there are none.
    pub(super) has_dying: Cell<bool>,
    dying: RefCell<Vec<NonNull<Var>>>,
    #[cfg(not(loom))]
    pub(super) unused: super::pool::Unused,
}

impl Local {
    pub(crate) fn new(seats: SeatsRef) -> Self {
        let seat = seats.take();
        Self {
            seats,
            seat,
            seen: [const { Cell::new(0) }; SEATS],
            in_transaction: Cell::new(false),
            has_dying: Cell::new(false),
            dying: RefCell::new(Vec::new()),
            #[cfg(not(loom))]
            unused: super::pool::Unused::new(),
        }
    }

    /// A transaction begins.
    ///
    /// # Panics
    /// If there is one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(super) fn begin(&self) {
        if self.in_transaction.replace(true) {
            nested();
        }
    }

    /// It ends. The caller drops what is [`dying`](Self::take_dying) afterwards.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn end(&self) {
        self.in_transaction.set(false);
    }

    /// True if what the commit of `stamp` did is visible, and it is over.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn knows(&self, stamp: Stamp) -> bool {
        stamp.clock() <= self.seen[stamp.seat()].get()
    }

    /// Invariant 2, of the commit of `stamp`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn learn(&self, stamp: Stamp) {
        self.seen[stamp.seat()].set(stamp.clock());
    }

    /// A stamp for the end of a variable.
    pub(crate) fn stamp_of_end(&self) -> Stamp {
        let stamp = self.seats.stamp_of_end(self.seat);
        self.learn(stamp);
        stamp
    }

    /// Keeps a variable whose last handle has gone, if a transaction is under way.
    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn keep_dying(&self, var: NonNull<Var>) -> bool {
        let keeps = self.in_transaction.get();
        if keeps {
            self.has_dying.set(true);
            self.dying.borrow_mut().push(var);
        }
        keeps
    }

    /// The variables that are to end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_dying(&self) -> Vec<NonNull<Var>> {
        if self.has_dying.replace(false) { self.dying.take() } else { Vec::new() }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if self.seat != 0 {
            self.seats.leave(self.seat);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn nested() -> ! {
    panic!(
        "a transaction was started within a transaction; hand on the `&mut Transaction` of the outer one, or do this after it"
    )
}

#[cfg(not(loom))]
static SEATS_OF_ALL: Seats = Seats::new();

#[cfg(not(loom))]
std::thread_local! {
    static LOCAL: Local = {
        crate::sync_shim::probe_membarrier();
        Local::new(&SEATS_OF_ALL)
    };
}

/// The calling kernel thread's, valid until that ends.
///
/// # Panics
/// If the kernel thread ends, and its thread-locals have been destroyed.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn current() -> NonNull<Local> {
    LOCAL.try_with(|local| NonNull::from(local)).unwrap_or_else(|_| is_gone())
}

/// As [`current`]; `None` where that panics.
#[cfg(not(loom))]
pub(super) fn try_current<R>(f: impl FnOnce(&Local) -> R) -> Option<R> {
    LOCAL.try_with(f).ok()
}

/// A stamp for the end of a variable, on a kernel thread without a [`Local`].
#[cfg(not(loom))]
pub(super) fn stamp_of_end() -> Stamp {
    SEATS_OF_ALL.stamp_of_end(0)
}

#[cfg(not(loom))]
#[cold]
#[inline(never)]
fn is_gone() -> ! {
    panic!(
        "a kernel thread that ends, and whose thread-locals have been destroyed, has no transactions any more"
    )
}
