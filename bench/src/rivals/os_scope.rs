//! std's scoped OS threads: on one core for one worker, on all for more.

use super::threads::cores;
use crate::harness::Runner;
use crate::work::quicksort::{self, Fork};
use crate::work::scope;
use anyhow::Result;
use std::thread;
use std::time::Instant;

/// An OS thread for one half; the other half runs in the calling thread.
struct OsThreads;

impl Fork for OsThreads {
    fn both(one: impl FnOnce() + Send, other: impl FnOnce()) {
        thread::scope(|scope| {
            scope.spawn(one);
            other();
        });
    }
}

/// Quicksort with a thread for one half of each partition.
pub fn quicksort(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(|times| Ok(quicksort::samples::<OsThreads>(times))))
}

/// Scopes with children that do nothing.
pub fn scope(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(|n| {
        let scopes = n.div_ceil(scope::CHILDREN);
        let begun = Instant::now();
        for _ in 0..scopes {
            thread::scope(|scope| (0..scope::CHILDREN).for_each(|_| _ = scope.spawn(|| {})));
        }
        Ok(scope::samples(begun.elapsed(), scopes))
    }))
}
