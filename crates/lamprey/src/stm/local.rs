//! What a kernel thread keeps for its transactions.
//!
//! # Invariants
//! 1. A kernel thread has one transaction at a time: from `begin` to `end` no other thread runs on it, as code
//!    in a transaction cannot switch ([`sched::guard`](crate::sched::guard)).
//! 2. `seen[s]` is the clock of a commit of seat `s` that is known to be over; all earlier ones are over too
//!    ([`seat`](super::seat), invariant 1), and what they did is visible to this thread.
//! 3. No destructor of the program runs because of the runtime from `begin` to `end`. What would be dropped within
//!    a transaction of this thread ([`Left`]) is dropped after it. A variable has one reason more: the transaction
//!    may have read it, and a stamp that changed would make it start again, for ever.

#[cfg(not(loom))]
use super::seat::Seats;
use super::seat::SeatsRef;
use super::stamp::{SEATS, Stamp};
use super::value::{DropWord, Word};
use super::var::Var;
#[cfg(not(loom))]
use crate::kernel::fork;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// See the top of this file.
pub(crate) struct Local {
    pub(super) seats: SeatsRef,
    pub(super) seat: usize,
    seen: [Cell<u64>; SEATS],
    in_transaction: Cell<bool>,
    /// Invariant 3. `has_left` is false if there is nothing.
    pub(super) has_left: Cell<bool>,
    left: RefCell<Vec<Left>>,
    #[cfg(not(loom))]
    pub(super) unused: super::pool::Unused,
}

/// What is to end once the transaction of its kernel thread is over.
pub(super) enum Left {
    /// A variable without handles.
    Var(NonNull<Var>),
    /// The last share of a value.
    Value(Word, DropWord),
}

impl Local {
    pub(crate) fn new(seats: SeatsRef) -> Self {
        let seat = seats.take();
        Self {
            seats,
            seat,
            seen: [const { Cell::new(0) }; SEATS],
            in_transaction: Cell::new(false),
            has_left: Cell::new(false),
            left: RefCell::new(Vec::new()),
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

    /// It ends. The caller ends what is [left](Self::take_left) afterwards.
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

    /// Invariant 2, of these clocks.
    pub(super) fn learn_all(&self, over: &[u64; SEATS]) {
        for (seen, clock) in self.seen.iter().zip(over) {
            seen.set(seen.get().max(*clock));
        }
    }

    /// A stamp for the end of a variable.
    pub(crate) fn stamp_of_end(&self) -> Stamp {
        let stamp = self.seats.stamp_of_end(self.seat);
        self.learn(stamp);
        stamp
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn is_in_transaction(&self) -> bool {
        self.in_transaction.get()
    }

    /// Within a transaction: keeps what would end now (invariant 3).
    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn leave(&self, left: Left) {
        self.has_left.set(true);
        self.left.borrow_mut().push(left);
    }

    /// What is to end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_left(&self) -> Vec<Left> {
        if self.has_left.replace(false) { self.left.take() } else { Vec::new() }
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

/// Registers [`in_child`].
#[cfg(not(loom))]
static FORK: std::sync::Once = std::sync::Once::new();

#[cfg(not(loom))]
extern "C" fn in_child() {
    SEATS_OF_ALL.free_of_others();
}

#[cfg(not(loom))]
crate::memory::lasting::lasting_local! {
    static LOCAL: Local = {
        crate::sync_shim::probe_membarrier();
        FORK.call_once(|| fork::in_children(in_child));
        Local::new(&SEATS_OF_ALL)
    };
}

/// The calling kernel thread's, valid until that ends.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn current() -> NonNull<Local> {
    LOCAL.get()
}

/// Calls `f` with the calling kernel thread's.
#[cfg(not(loom))]
pub(super) fn with<R>(f: impl FnOnce(&Local) -> R) -> R {
    LOCAL.with(f)
}
