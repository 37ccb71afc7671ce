//! How somebody elsewhere reaches a host to cancel it: where the host is, and whether that is still true.
//!
//! A started host is cancelled by its home worker, for everything about it is that worker's. So the canceller
//! must find the home, and send there; and the host must neither start unseen nor end, and its worker with
//! it, meanwhile. Starting and ending are hot, cancelling is not: the host pays two plain stores and two
//! plain loads, the canceller a heavy barrier.
//!
//! # States (`home`)
//! ```text
//! null --begin--> a seat --end--> ENDED  (--begin--> a seat --end--> ENDED: its unwanted outcome is dropped)
//! ```
//! `ask`: ASKED once anybody wants the host to end, for ever; VISITED from then until that somebody has found
//! out where it is, and what was sent there has arrived.
//!
//! # Invariants
//! 1. Only who sets ASKED ever sets VISITED: one visit a host.
//! 2. A host that was asked before it began is not begun: its closure is dropped instead.
//! 3. A host that ends with VISITED set waits for it to be cleared before it publishes its outcome: until
//!    then its object and its worker are there.
//! 4. The canceller keeps the host's object alive by its own means (the handle; a section of its scope, in
//!    which it is listed) until it has called [`visit`](Reach::visit): a host that ended just before it was
//!    asked waits for nobody. What it sends clears VISITED as its last access.
//!
//! # Who may touch what
//! `home`: written by the worker that begins or ends the host, read by all. `ask`: cancellers set, the visit
//! clears.
//!
//! # Orderings
//! begin: `home` stored, light barrier, `ask` loaded; the canceller: `ask` changed, heavy barrier, `home`
//! loaded: at least one sees the other. The same at the end. The Release that clears VISITED pairs with the
//! Acquire of `is_visited`.
//!
//! # Rejected
//! * A read-modify-write at each start and end: 4 ns a host for something that hardly any host sees.
//! * References to the seat in each handle: the same.
//!
//! # Checked by
//! `model::reach` (loom, with broken variants), `tests/cancel/hosts.rs`, `tests/cancel/race.rs`.

use crate::sync_shim::{AtomicPtr, AtomicU8, Ordering, light_barrier};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// See the module's text: a view of two fields of a descriptor, which lie where there is place for them. `S`
/// is the seat.
pub(crate) struct Reach<'a, S> {
    home: &'a AtomicPtr<()>,
    ask: &'a AtomicU8,
    _seat: PhantomData<*const S>,
}

const ASKED: u8 = 1;
const VISITED: u8 = 2;

fn ended() -> *mut () {
    ptr::without_provenance_mut(1)
}

/// What a canceller is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nothing: somebody has asked before, or the host has ended.
    Before,
    /// The host is the caller's worker's own: to be cancelled at once.
    Here,
    /// After a `heavy_barrier`, [`visit`](Reach::visit) it.
    Away,
}

impl<S> Clone for Reach<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Reach<'_, S> {}

impl<'a, S> Reach<'a, S> {
    /// Of the descriptor with these fields.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(home: &'a AtomicPtr<()>, ask: &'a AtomicU8) -> Self {
        Self { home, ask, _seat: PhantomData }
    }

    /// The seat of a host that has started and not ended, for those who wake it, or sit there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn home(self) -> *const S {
        // Relaxed: written before anybody could name the host as a waiter; cancellers see to the order by
        // barriers.
        self.home.load(Ordering::Relaxed).cast()
    }

    /// Home: the host starts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(self, home: *const S) {
        // Relaxed: see `home`.
        self.home.store(home.cast_mut().cast(), Ordering::Relaxed);
    }

    /// Home, after `begin`: true if it was asked to end before.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_asked(self) -> bool {
        light_barrier();
        // Relaxed: the barriers order it (see the module's text).
        self.ask.load(Ordering::Relaxed) & ASKED != 0
    }

    /// Home: the host ends; true if it must wait until [`is_visited`](Self::is_visited) says no.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(self) -> bool {
        // Release: a canceller that sees ENDED does nothing; what came before need not be seen, but costs
        // nothing.
        self.home.store(ended(), Ordering::Release);
        light_barrier();
        // Relaxed: the barriers order it.
        self.ask.load(Ordering::Relaxed) & VISITED != 0
    }

    /// True until the visit is over.
    pub(crate) fn is_visited(self) -> bool {
        // Acquire pairs with the Release in `leave`.
        self.ask.load(Ordering::Acquire) & VISITED != 0
    }

    /// Anybody: wants the host to end. `here`: the caller's own seat, or null. (In one step from 0: a second
    /// canceller that only added VISITED would add it after the first had left.)
    pub(crate) fn ask(self, here: *const S) -> Asked {
        let home = self.home();
        if home.cast() == ended().cast_const() {
            return Asked::Before;
        }
        let is_here = !here.is_null() && home == here;
        let wish = if is_here { ASKED } else { ASKED | VISITED };
        // Relaxed on both sides: the heavy barrier that follows orders it against `begin` and `end`.
        match self.ask.compare_exchange(0, wish, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) if is_here => Asked::Here,
            Ok(_) => Asked::Away,
            Err(_) => Asked::Before,
        }
    }

    /// The canceller whom `ask` told so, after a heavy barrier: where the host is. `None`: it will see for
    /// itself, or has ended, and the visit is over.
    pub(crate) fn visit(self) -> Option<NonNull<S>> {
        // Acquire pairs with the Release of ENDED in `end`. Of `begin` nothing has to be seen: the seat is
        // older than the host.
        let home = self.home.load(Ordering::Acquire);
        if home.is_null() || home == ended() {
            self.leave();
            return None;
        }
        NonNull::new(home.cast())
    }

    /// What was sent home has arrived: the last access of the visit.
    pub(crate) fn leave(self) {
        // Release pairs with the Acquire in `is_visited`.
        self.ask.fetch_and(!VISITED, Ordering::Release);
    }
}
