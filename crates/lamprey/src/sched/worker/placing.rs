//! What a worker remembers about where hosts start ([`placement`](crate::sched::placement)).

use crate::sched::thread::{Body, Thread};
use std::cell::Cell;
use std::ptr;

/// What a worker remembers for the next start.
pub(in crate::sched) struct Placing {
    /// The kind of a host whose first run is watched, and when that began in ticks.
    pub(in crate::sched) watched: Cell<Option<(&'static Body, u64)>>,
    /// The thread in whose place the root ran last. Only compared.
    pub(in crate::sched) gave_way: Cell<*const Thread>,
    /// Which worker's hosts are counted next.
    pub(in crate::sched) turn_of_others: Cell<usize>,
}

impl Placing {
    pub(in crate::sched) fn new() -> Self {
        Self { watched: Cell::new(None), gave_way: Cell::new(ptr::null()), turn_of_others: Cell::new(0) }
    }
}
