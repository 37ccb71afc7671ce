//! [`PoolFull`]: a call was refused.

use super::PoolShared;
use std::error::Error;
use std::fmt;

/// The error of [`try_block`](crate::try_block) and [`try_block_async`](crate::try_block_async): all threads of the pool are busy, and so many calls wait that no further one may.
pub struct PoolFull<F> {
    closure: F,
    threads: usize,
    most_queued: usize,
}

impl<F> PoolFull<F> {
    pub(super) fn new(closure: F, pool: &PoolShared) -> Self {
        Self { closure, threads: pool.max, most_queued: pool.most_queued }
    }

    /// The closure, which has not been run.
    pub fn into_inner(self) -> F {
        self.closure
    }
}

impl<F> fmt::Display for PoolFull<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, most_queued, .. } = self;
        write!(f, "the pool is full: its threads ({threads}) are busy, and {most_queued} calls wait for one")
    }
}

impl<F> fmt::Debug for PoolFull<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolFull").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<F> Error for PoolFull<F> {}
