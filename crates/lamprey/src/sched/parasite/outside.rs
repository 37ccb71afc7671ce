//! Where parasites are placed that come from outside of a worker: from another kernel thread, or from code on the
//! worker's own that must not run them ([`Handle::parasite`](crate::Handle::parasite)).
//!
//! A worker's own slab is for its kernel thread only. So each worker has a second one, for these parasites, behind a
//! lock. Once placed, such a parasite is one like any other: its block leads to its home worker, and the block is freed
//! through the slab's returns, without the lock. Then the thread that has placed it sends it to the home worker's inbox.
//!
//! # States
//! *Unused*: no parasite has come from outside yet, and there is no slab. *Open*: the lock guards the slab. *Closed*: the
//! worker ends. It has taken the slab, and nothing is placed any more.
//!
//! # Invariants
//! 1. A block that is in the slab while nobody has the lock is a complete task: it is taken, marked and filled within
//!    one section.
//! 2. The worker closes before it cancels the tasks of the slab ([`super::carrier`], 4). So a task that was placed is
//!    found by that, and is over, or has CANCEL set, before the worker ends; and no task is placed after it, which
//!    nobody would end.
//! 3. No code of the program runs under the lock, and a thread that holds it waits for nobody but the system (for
//!    memory).
//!
//! # Who may touch what
//! The slab: whoever holds the lock; after `close` the worker, without it. This is what "the owner's kernel thread" is in
//! the rules of [`crate::memory::slab`].
//!
//! # Orderings
//! Those of the lock: what was written into a block is visible to the worker, whether it finds the task in the slab or
//! gets it from the inbox (whose push is a Release).
//!
//! # Rejected
//! * A future that is sent in a box, and placed by the worker: the handle would need an object of its own, with a
//!   completion and a way to find the parasite later, for a second allocation and a second protocol of cancellation.
//! * Blocks from the general heap, each with its home in it: [`Task::home`](super::task::Task::home) would have to tell
//!   the two kinds apart at every wake, and the end of a runtime would need a list of them.
//! * One such slab for the whole runtime: all of its parasites would have the same home.
//!
//! # Checked by
//! `model::outside` (loom, with a broken variant that it catches), `tests/parasite/from_outside.rs`,
//! `tests/stress/from_outside.rs`.

use crate::sync_shim::{Mutex, MutexGuard, left_out};
use std::sync::PoisonError;

/// The slab for the parasites that come from outside of its worker.
pub(crate) struct Outside<S>(Mutex<State<S>>);

enum State<S> {
    Unused,
    Open(S),
    Closed,
}

impl<S> Outside<S> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State::Unused))
    }

    /// Calls `place` with the slab, which `make` makes if there is none yet. `None`, without a call, if the worker ends.
    pub(crate) fn place<R>(&self, make: impl FnOnce() -> S, place: impl FnOnce(&S) -> R) -> Option<R> {
        let mut state = self.lock();
        if matches!(*state, State::Unused) {
            *state = State::Open(make());
        }
        match &*state {
            State::Open(slab) => Some(place(slab)),
            State::Unused | State::Closed => None,
        }
    }

    /// The worker ends: refuses further parasites, and gives the slab to it.
    pub(crate) fn close(&self) -> Option<S> {
        let closed = if left_out!(OutsideClosed) { State::Unused } else { State::Closed };
        match std::mem::replace(&mut *self.lock(), closed) {
            State::Open(slab) => Some(slab),
            State::Unused | State::Closed => None,
        }
    }

    /// Calls `tend` with the slab, if there is one.
    #[cfg(not(loom))]
    pub(in crate::sched) fn tend(&self, tend: impl FnOnce(&S)) {
        if let State::Open(slab) = &*self.lock() {
            tend(slab);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
