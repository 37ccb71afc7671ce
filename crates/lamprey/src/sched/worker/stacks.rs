//! The stacks that a worker keeps for the next hosts, and when idle ones give their memory back
//! ([`trim`](crate::sched::trim)).

use super::rounds::POLL;
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
}

impl Stacks {
    pub(in crate::sched) fn new(shared: Arc<StackPool>, now: u64) -> Self {
        let (pool, parting) = (LocalPool::new(shared), Cell::new(None));
        Self { pool, parting, untrimmed: Cell::new(false), trimmed: Cell::new(now) }
    }
}
