//! Where a worker is that looks at its own threads in pieces ([`pieces`](crate::sched::inspect::pieces)).

use crate::sched::thread::Thread;
use crate::time::clock;
use std::any::Any;
use std::cell::Cell;
use std::ptr;
use std::time::Duration;

/// How long a piece takes, and one thread, or one chunk of parasites.
const PIECE: Duration = Duration::from_micros(300);

/// A look that has begun. Only the worker touches it.
pub(in crate::sched) struct Walk {
    /// The host that is looked at next; null if there is none. The worker moves it on when that host ends.
    pub(in crate::sched) next: Cell<*const Thread>,
    /// What is asked for, and what was found so far; `None` while the root goes on with it.
    pub(in crate::sched) begun: Cell<Option<Box<dyn Any>>>,
    pub(in crate::sched) is_on: Cell<bool>,
    /// When the next piece begins at the latest, in ticks.
    pub(in crate::sched) resume: Cell<u64>,
}

impl Walk {
    pub(in crate::sched) fn new() -> Self {
        Self {
            next: Cell::new(ptr::null()),
            begun: Cell::new(None),
            is_on: Cell::new(false),
            resume: Cell::new(0),
        }
    }
}

/// A piece of a look, with its end.
pub(in crate::sched) struct Piece {
    begin: u64,
    /// In ticks.
    length: u64,
}

impl Piece {
    /// One that begins at this tick.
    pub(in crate::sched) fn from(begin: u64) -> Self {
        Self { begin, length: clock::in_ticks(PIECE) }
    }

    /// One that takes as long as the look, for simulations.
    pub(in crate::sched) fn endless() -> Self {
        Self { begin: 0, length: u64::MAX }
    }

    pub(in crate::sched) fn is_over(&self) -> bool {
        clock::ticks().wrapping_sub(self.begin) >= self.length
    }
}
