//! How often a busy worker runs its root: the budget of scheduling points ([`root`](crate::sched::root)).

use crate::time::clock;
use std::cell::Cell;
use std::time::Duration;

/// How often sources are polled while the worker is busy.
pub(in crate::sched) const POLL: Duration = Duration::from_micros(50);

/// The measured length of a budget, which is set so that the root runs about every [`POLL`].
#[derive(Debug)]
pub(in crate::sched) struct Rounds {
    /// Scheduling points in one round.
    pub(in crate::sched) window: Cell<u32>,
    /// When the last round began, when the sources were last polled, and the interval between polls; in
    /// ticks of [`clock`].
    pub(in crate::sched) measured: Cell<u64>,
    pub(in crate::sched) polled: Cell<u64>,
    pub(in crate::sched) poll_every: u64,
}

impl Rounds {
    pub(in crate::sched) fn new(now: u64) -> Self {
        let poll_every = clock::in_ticks(POLL);
        Self { window: Cell::new(8), measured: Cell::new(now), polled: Cell::new(now), poll_every }
    }
}
