//! The stacks that a worker keeps, and when those that are idle give their memory back
//! ([`trim`](crate::sched::trim)).

use super::rounds::POLL;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use swapstack::{LocalPool, PooledStack, StackPool};

/// How long stacks must have been idle.
pub(in crate::sched) const PERIOD: Duration = Duration::from_secs(1);
/// The same in visits of the root.
pub(in crate::sched) const POLLS: u64 = (PERIOD.as_nanos() / POLL.as_nanos()) as u64;
/// After how many visits of the root the next few go.
pub(in crate::sched) const PAUSE: u64 = 20;
/// How many stacks go at once on a busy worker.
pub(in crate::sched) const BUSY: usize = 32;
/// As above, on one that is about to sleep.
pub(in crate::sched) const IDLE: usize = 1024;

/// The stacks that a worker keeps.
pub(in crate::sched) struct Stacks {
    pub(in crate::sched) pool: LocalPool,
    /// The last large stack that a host has ended on.
    pub(in crate::sched) parting: Cell<Option<PooledStack>>,
    /// Hosts have run since the memory of idle stacks was last given back.
    pub(in crate::sched) untrimmed: Cell<bool>,
    /// When this worker last looked whether stacks are not needed, in ticks.
    pub(in crate::sched) trimmed: Cell<u64>,
}

impl Stacks {
    pub(in crate::sched) fn new(shared: Arc<StackPool>, now: u64) -> Self {
        let (pool, parting) = (LocalPool::new(shared), Cell::new(None));
        Self { pool, parting, untrimmed: Cell::new(false), trimmed: Cell::new(now) }
    }
}
