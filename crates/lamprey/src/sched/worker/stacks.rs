//! The stacks that a worker keeps for the next hosts, and when idle ones give their memory back
//! ([`trim`](crate::sched::trim)); and which hosts are measured.

use super::rounds::POLL;
use crate::time::clock;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use swapstack::{LocalPool, PooledStack, StackPool};

/// How long a stack must have been idle before its memory is given back.
pub(in crate::sched) const PERIOD: Duration = Duration::from_secs(1);
/// [`PERIOD`] in poll intervals.
pub(in crate::sched) const POLLS: u64 = (PERIOD.as_nanos() / POLL.as_nanos()) as u64;
/// Poll intervals between two batches, if there are more stacks to give back.
pub(in crate::sched) const PAUSE: u64 = 20;
/// Most stacks that a busy worker gives back at once.
pub(in crate::sched) const BUSY: usize = 32;
/// Most stacks that a worker gives back at once when it is about to sleep.
pub(in crate::sched) const IDLE: usize = 1024;

/// A worker's pool of stacks, and when it was last trimmed.
pub(in crate::sched) struct Stacks {
    pub(in crate::sched) pool: LocalPool,
    /// The last stack too large for the pool on which a host has ended; it cannot be unmapped while that
    /// code runs on it.
    pub(in crate::sched) parting: Cell<Option<PooledStack>>,
    /// Hosts have run since idle stacks last gave their memory back.
    pub(in crate::sched) untrimmed: Cell<bool>,
    /// When this worker last looked for unneeded stacks, in ticks.
    pub(in crate::sched) trimmed: Cell<u64>,
    /// Which hosts are measured.
    pub(in crate::sched) of_hosts: Sampling,
    /// Which parasites with a context of their own are measured.
    pub(in crate::sched) of_parasites: Sampling,
    /// The number of such parasites that have started.
    pub(in crate::sched) parasites: Cell<u64>,
    /// The last question about stacks that this worker has answered.
    pub(in crate::sched) answered: Cell<usize>,
}

impl Stacks {
    /// `simulated`: nothing is measured.
    pub(in crate::sched) fn new(shared: Arc<StackPool>, now: u64, simulated: bool) -> Self {
        let sampling = || Sampling::new(if simulated { u64::MAX } else { 1 });
        Self {
            pool: LocalPool::new(shared),
            parting: Cell::new(None),
            untrimmed: Cell::new(false),
            trimmed: Cell::new(now),
            of_hosts: sampling(),
            of_parasites: sampling(),
            parasites: Cell::new(0),
            answered: Cell::new(0),
        }
    }
}

/// How many of a worker's first threads are measured, one after the other.
const FIRST: u64 = 32;
/// How long it takes on average from one measurement to the next, later.
const BETWEEN: Duration = Duration::from_millis(10);
/// Most threads from one measurement to the next.
const MOST_BETWEEN: u64 = 1 << 20;

/// Which of a worker's threads have the use of their stack measured ([`stack_use`](crate::sched::inspect::stack_use)): the
/// first ones, then some hundred in a second, whatever the rate at which they start.
pub(in crate::sched) struct Sampling {
    /// The number of the next thread that is measured.
    next: Cell<u64>,
    /// Threads from one measurement to the next.
    gap: Cell<u64>,
    /// When one was last measured, in ticks.
    last: Cell<u64>,
}

impl Sampling {
    fn new(first: u64) -> Self {
        Self { next: Cell::new(first), gap: Cell::new(1), last: Cell::new(0) }
    }

    /// True if the worker's thread of this number is to be measured.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn is_due(&self, number: u64) -> bool {
        number >= self.next.get()
    }

    /// The thread of this number is measured, from `now` on.
    pub(in crate::sched) fn begin(&self, number: u64, now: u64) {
        let (passed, between) = (now.wrapping_sub(self.last.replace(now)), clock::in_ticks(BETWEEN));
        if number < FIRST {
            return self.next.set(number + 1);
        }
        let gap = if passed < between {
            (self.gap.get() * 2).min(MOST_BETWEEN)
        } else {
            (self.gap.get() / 2).max(1)
        };
        self.gap.set(gap);
        // Not at equal distances: a program may start its kinds of hosts in turn.
        self.next.set(number + 1 + gap / 2 + now % gap);
    }
}
