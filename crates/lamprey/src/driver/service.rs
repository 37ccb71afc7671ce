//! Who takes the completions of a worker's ring, and gives them to those who wait for them: its owner; while that one
//! computes, a helper, which is an idle worker.
//!
//! # States
//! ```text
//! free --hold: the owner looks, or sleeps, or retires--> owner's --> free
//! free --try_hold: the owner looks, a helper helps-----> theirs  --> free, with what they have kept for the owner
//! owner's --end--> ended
//! ```
//!
//! # Invariants
//! 1. Completions are taken **and** given to their waiters by who holds the right, who lets it go after that. So the answers of
//!    one operation (a multishot has many) are given in their order.
//! 2. The owner sleeps with the right, and only if nothing is kept for it. So while it sleeps nobody takes what would
//!    end its sleep.
//! 3. A helper never waits for the right, and keeps for the owner what is the owner's: then the next sleep does not begin.
//! 4. A kernel thread that has entered the kernel for a ring ends after that ring: the kernel gives up the operations of
//!    a thread that ends ([`await_end`](Service::await_end)).
//!
//! # Who may touch what
//! The holder of the right: the ring's completions. (The owner, where the kernel refuses entries, takes some out
//! of the kernel's way, under a lock of their own; they are given to their waiters by the next holder, in order.)
//!
//! # Orderings
//! A lock's.
//!
//! # Rejected
//! * The owner takes alone (it was so): what waits for a multishot, or for a file in async code, waits for as long as the
//!   owner computes, although an idle worker could run it.
//! * A helper that takes at any time: the owner, about to sleep until there is a completion, sleeps on after the
//!   helper has taken that one; and two takers give the answers of a multishot in any order.
//! * A helper that performs the owner's operations on its own ring: it could, before they are submitted, but those that the kernel has,
//!   and multishots, are answered in the owner's.
//!
//! # Checked by
//! `model::service` (loom, with broken variants that it catches), `tests/uring/helped.rs`.

use crate::sync_shim::{Condvar, Mutex, MutexGuard};
use std::sync::{PoisonError, TryLockError};

/// The right to serve a ring.
pub(crate) struct Service<C> {
    state: Mutex<State<C>>,
    ended: Condvar,
}

/// What the holder of the right has.
pub(crate) struct State<C> {
    /// For the owner.
    pub(crate) kept: Vec<C>,
    pub(crate) has_ended: bool,
}

/// The right, until it is dropped.
pub(crate) type Right<'a, C> = MutexGuard<'a, State<C>>;

impl<C> Service<C> {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { kept: Vec::new(), has_ended: false }), ended: Condvar::new() }
    }

    /// For the owner: waits for a helper to end, which does not take long.
    pub(crate) fn hold(&self) -> Right<'_, C> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if another thread serves.
    pub(crate) fn try_hold(&self) -> Option<Right<'_, C>> {
        match self.state.try_lock() {
            Ok(right) => Some(right),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The ring has no operations any more, and will have none.
    pub(crate) fn end(&self, mut right: Right<'_, C>) {
        right.has_ended = true;
        drop(right);
        self.ended.notify_all();
    }

    /// Waits until the ring has come to its end.
    pub(crate) fn await_end(&self) {
        let mut state = self.hold();
        while !state.has_ended {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
