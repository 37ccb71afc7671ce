//! What a worker remembers for the placement of new hosts ([`placement`](crate::sched::placement)).

use crate::sched::thread::{Body, Thread};
use std::cell::Cell;
use std::ptr;

/// The state of placement of one worker.
pub(in crate::sched) struct Placing {
    /// The kind of the host whose first run is being timed, and when that run began, in ticks.
    pub(in crate::sched) watched: Cell<Option<(&'static Body, u64)>>,
    /// The thread that last gave way to the root. Only compared.
    pub(in crate::sched) gave_way: Cell<*const Thread>,
    /// The worker whose number of hosts is compared next.
    pub(in crate::sched) turn_of_others: Cell<usize>,
}

impl Placing {
    pub(in crate::sched) fn new() -> Self {
        Self { watched: Cell::new(None), gave_way: Cell::new(ptr::null()), turn_of_others: Cell::new(0) }
    }
}
