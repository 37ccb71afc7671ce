//! What a thread has entered on its stack: shields, and levels that can be cancelled by themselves.

use crate::sched::parasite::task::Task;
use crate::sync_shim::{AtomicBool, Cell, Ordering};
use std::ptr;
use std::time::Instant;

/// One of the chain: see the module's text.
pub(crate) struct Frame {
    pub(super) outer: Cell<*const Frame>,
    /// The stackless parasite that is polled where it was entered; null if none.
    pub(super) polled: Cell<*mut Task>,
    pub(super) is: Is,
}

pub(super) enum Is {
    Shield,
    /// Of no use for cancellation: something that is the thread's alone is in use.
    Open,
    Level {
        /// Of an OS thread it is set from elsewhere; else it is the home's.
        tripped: AtomicBool,
        /// When it is tripped by the clock: for OS threads, which have no timers.
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
        Self::new(Is::Level { tripped: AtomicBool::new(false), deadline })
    }

    pub(crate) fn is_tripped(&self) -> bool {
        // Acquire pairs with the Release store in `set_tripped`.
        matches!(&self.is, Is::Level { tripped, .. } if tripped.load(Ordering::Acquire))
    }

    /// Of a host: by its home, which is to [`weigh`](super::state::weigh) it. Of an OS thread: by anybody.
    pub(crate) fn set_tripped(&self) {
        if let Is::Level { tripped, .. } = &self.is {
            // Release pairs with the Acquire load in `is_tripped`.
            tripped.store(true, Ordering::Release);
        }
    }
}
