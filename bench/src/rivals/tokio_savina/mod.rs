//! tokio's versions of the natural programs (`benches/savina`): tasks of a `multi_thread` runtime, also for
//! one worker, as `#[tokio::main]` gives it.
//!
//! tokio has no rendezvous channel; `mpsc::channel(1)` is the nearest.

pub mod barber;
pub mod big;
pub mod bounded_buffer;
pub mod chameneos;
pub mod counting;
pub mod dictionary;
pub mod fork_join;
pub mod philosophers;
pub mod skynet;
pub mod smokers;

use super::tokio::run;
use crate::harness::Runner;
use crate::work::savina::Work;
use ::tokio::runtime::{Builder, Runtime};
use anyhow::Result;
use std::time::Instant;

fn runtime(workers: usize) -> Result<Runtime> {
    Ok(Builder::new_multi_thread().worker_threads(workers).enable_all().build()?)
}

/// Runs `program` as a task.
fn runner<F>(workers: usize, work: &'static Work, program: fn(u64) -> F) -> Result<Runner>
where
    F: Future<Output = u64> + Send + 'static,
{
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = work.rounded(n);
        let outcome = run(&runtime, async move {
            let begun = Instant::now();
            let checksum = program(n).await;
            (begun.elapsed(), checksum)
        });
        work.samples(n, outcome)
    }))
}
