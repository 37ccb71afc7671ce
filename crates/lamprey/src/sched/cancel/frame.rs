//! The frames on a thread's stack: shields, and levels that can be cancelled on their own.

use crate::sched::parasite::task::Task;
use crate::sync_shim::{AtomicBool, Cell, Ordering};
use std::ptr;
use std::time::Instant;

/// One frame of a thread's chain ([`super`], States).
pub(crate) struct Frame {
    pub(super) outer: Cell<*const Frame>,
    /// The stackless parasite that was polled when the frame was entered; null if none.
    pub(super) polled: Cell<*mut Task>,
    pub(super) is: Is,
}

pub(super) enum Is {
    Shield,
    /// Has no effect on cancellation: marks that something that belongs to this thread alone is in use.
    Open,
    Level {
        /// Set by any thread if it is an OS thread's level, else by the home worker only.
        cancelled: AtomicBool,
        /// When the clock cancels it: for OS threads, which have no timers.
        deadline: Option<Instant>,
    },
}

impl Frame {
    pub(super) fn new(is: Is) -> Self {
        Self { outer: Cell::new(ptr::null()), polled: Cell::new(ptr::null_mut()), is }
    }

    pub(crate) fn shield() -> Self {
        Self::new(Is::Shield)
    }

    pub(crate) fn level(deadline: Option<Instant>) -> Self {
        Self::new(Is::Level { cancelled: AtomicBool::new(false), deadline })
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        // Acquire pairs with the Release store in `set_cancelled`.
        matches!(&self.is, Is::Level { cancelled, .. } if cancelled.load(Ordering::Acquire))
    }

    /// Cancels the level. For a host: called by its home worker, which must then
    /// [`recompute`](super::state::recompute) the host. For an OS thread: called by any thread.
    pub(crate) fn set_cancelled(&self) {
        if let Is::Level { cancelled, .. } = &self.is {
            // Release pairs with the Acquire load in `is_cancelled`.
            cancelled.store(true, Ordering::Release);
        }
    }
}
