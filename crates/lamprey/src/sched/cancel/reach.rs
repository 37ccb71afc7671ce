//! How another thread finds a host to cancel it: where the host is, and whether that is still true.
//!
//! A started host is cancelled by its home worker, because only that worker touches the host's state. So the
//! canceller must find the home worker and send a message there; in the meantime the host must neither start
//! unnoticed nor end, and so neither must its worker. Starting and ending are hot paths, cancelling is not:
//! the host pays two plain stores and two plain loads, the canceller a heavy barrier (an asymmetric fence:
//! Linux `membarrier`).
//!
//! # States (`home`)
//! ```text
//! null --begin--> home worker --end--> ENDED
//!                 (ENDED --begin--> home worker --end--> ENDED: its unwanted outcome is dropped)
//! ```
//! `ask`: ASKED, for ever, once any thread has asked the host to end. VISITED, from then until that thread
//! has found out where the host is, and the message that it sent there has arrived.
//!
//! # Invariants
//! 1. Only the thread that sets ASKED ever sets VISITED: there is at most one visit for each host.
//! 2. A host that was asked before it began is not begun: its closure is dropped instead.
//! 3. A host that ends with VISITED set waits until it is cleared before it publishes its outcome: until then
//!    its object and its worker are alive.
//! 4. The canceller keeps the host's object alive by its own means (the handle; a section of its scope's
//!    lock, in which the host is listed) until [`visit`](Reach::visit) has returned: a host that ended just
//!    before it was asked does not wait. The message clears VISITED as its last access to the host.
//!
//! # Who may touch what
//! `home`: written by the worker that begins or ends the host, read by all. `ask`: set by cancellers, cleared
//! by the end of the visit.
//!
//! # Orderings
//! The host at its start: `home` stored, light barrier, `ask` loaded. The canceller: `ask` changed, heavy
//! barrier, `home` loaded. At least one sees the other's store. The same holds at the end of the host. The
//! Release that clears VISITED pairs with the Acquire of `is_visited`.
//!
//! # Rejected
//! * A read-modify-write at each start and end: 4 ns a host, for an event that few hosts ever see.
//! * A counted reference to the worker's shared state in each handle: the same cost.
//!
//! # Checked by
//! `model::reach` (loom, with broken variants), `tests/cancel/hosts.rs`, `tests/cancel/race.rs`.

use crate::sync_shim::{AtomicPtr, AtomicU8, Ordering, light_barrier};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// The protocol of this file, as a view of two fields of a thread's descriptor. (They are separate fields to
/// fill gaps in its layout.) `S` is the worker's shared state.
pub(crate) struct Reach<'a, S> {
    home: &'a AtomicPtr<()>,
    ask: &'a AtomicU8,
    _remote: PhantomData<*const S>,
}

const ASKED: u8 = 1;
const VISITED: u8 = 2;

fn ended() -> *mut () {
    ptr::without_provenance_mut(1)
}

/// What a canceller must do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nothing: another thread has asked before, or the host has ended.
    Before,
    /// The host is of the caller's worker: cancel it directly.
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
    /// The view of the descriptor with these fields.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(home: &'a AtomicPtr<()>, ask: &'a AtomicU8) -> Self {
        Self { home, ask, _remote: PhantomData }
    }

    /// The shared state of the home worker of a host that has started and not ended. For a thread that wakes
    /// the host, and for the home worker itself.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn home(self) -> *const S {
        // Relaxed: written before any thread could name the host as a waiter; cancellers order the access by
        // barriers.
        self.home.load(Ordering::Relaxed).cast()
    }

    /// Home worker: the host starts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(self, home: *const S) {
        // Relaxed: ordered by the barrier in `is_asked`; wakers learn of the host only after this store.
        self.home.store(home.cast_mut().cast(), Ordering::Relaxed);
    }

    /// Home worker, after `begin`: true if the host was asked to end before it began.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_asked(self) -> bool {
        light_barrier();
        // Relaxed: the light barrier above and the canceller's heavy barrier order it.
        self.ask.load(Ordering::Relaxed) & ASKED != 0
    }

    /// Home worker: the host ends; true if it must wait until [`is_visited`](Self::is_visited) is false.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(self) -> bool {
        // Release pairs with the Acquire in `visit`. It is not needed (a canceller that sees ENDED does
        // nothing), and costs nothing.
        self.home.store(ended(), Ordering::Release);
        light_barrier();
        // Relaxed: the light barrier above and the canceller's heavy barrier order it.
        self.ask.load(Ordering::Relaxed) & VISITED != 0
    }

    /// True until the visit is over.
    pub(crate) fn is_visited(self) -> bool {
        // Acquire pairs with the Release in `leave`.
        self.ask.load(Ordering::Acquire) & VISITED != 0
    }

    /// Any thread: asks the host to end. `here`: the shared state of the caller's worker, or null. (The word
    /// changes in one step from 0: a second canceller that only added VISITED could add it after the first
    /// had cleared it.)
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

    /// The canceller that got [`Asked::Away`], after a heavy barrier: where the host is. `None`: the host
    /// will see the request itself, or has ended; the visit is over.
    pub(crate) fn visit(self) -> Option<NonNull<S>> {
        // Acquire pairs with the Release of ENDED in `end`. `begin` needs no pair: the worker's shared state
        // is older than the host.
        let home = self.home.load(Ordering::Acquire);
        if home.is_null() || home == ended() {
            self.leave();
            return None;
        }
        NonNull::new(home.cast())
    }

    /// The message has arrived at the home worker: the last access of the visit.
    pub(crate) fn leave(self) {
        // Release pairs with the Acquire in `is_visited`.
        self.ask.fetch_and(!VISITED, Ordering::Release);
    }
}
