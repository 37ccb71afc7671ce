//! [`Measured`]: what a worker has measured, for any thread to read.

use super::histogram::Buckets;
use super::sites::Sites;
use crate::sync_shim::AtomicUsize;

/// The histograms of one worker, written by its kernel thread only; times in nanoseconds.
#[derive(Debug)]
pub(in crate::sched) struct Measured {
    pub(in crate::sched) spawn_to_run: Buckets,
    pub(in crate::sched) wake_to_run: Buckets,
    pub(in crate::sched) run: Buckets,
    /// How many threads were ready at a poll.
    pub(in crate::sched) ready: Buckets,
    /// From the call that ended a sleep until the worker was awake.
    pub(in crate::sched) call_to_awake: Buckets,
    pub(in crate::sched) asleep: Buckets,
    pub(in crate::sched) timer_late: Buckets,
    pub(in crate::sched) sites: Sites,
    /// How many threads were ready at the last poll.
    pub(in crate::sched) ready_now: AtomicUsize,
}

impl Measured {
    pub(in crate::sched) fn new() -> Self {
        let [spawn_to_run, wake_to_run, run, ready, call_to_awake, asleep, timer_late] =
            std::array::from_fn(|_| Buckets::default());
        let (sites, ready_now) = (Sites::new(), AtomicUsize::new(0));
        Self { spawn_to_run, wake_to_run, run, ready, call_to_awake, asleep, timer_late, sites, ready_now }
    }
}
