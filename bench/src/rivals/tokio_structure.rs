//! tokio's counterparts of Lamprey's scopes and cancellation: `JoinSet` and `abort`.

use super::tokio::{run, runtime};
use crate::harness::Runner;
use crate::work::cancel::{self, Witness};
use crate::work::scope;
use ::tokio::sync::mpsc;
use ::tokio::task::{JoinSet, yield_now};
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Sets of tasks that do nothing.
pub fn scope(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let scopes = n.div_ceil(scope::CHILDREN);
        let took = run(&runtime, async move {
            let begun = Instant::now();
            for _ in 0..scopes {
                let mut set = JoinSet::new();
                (0..scope::CHILDREN).for_each(|_| _ = set.spawn(async {}));
                while let Some(ended) = set.join_next().await {
                    ended.expect("doing nothing does not panic");
                }
            }
            begun.elapsed()
        });
        Ok(scope::samples(took, scopes))
    }))
}

/// Blocked tasks that are aborted.
pub fn cancel(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(cancel::BATCH);
        let took = run(&runtime, async move {
            let mut took = Duration::ZERO;
            for _ in 0..batches {
                took += batch().await;
            }
            took
        });
        Ok(cancel::samples(took, batches))
    }))
}

async fn batch() -> Duration {
    let (blocked, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut senders = Vec::new();
    let mut tasks = Vec::new();
    for _ in 0..cancel::BATCH {
        let (tx, mut rx) = mpsc::channel::<u64>(1);
        let (blocked, witness) = (blocked.clone(), Witness(ended.clone()));
        senders.push(tx);
        tasks.push(::tokio::spawn(async move {
            let _witness = witness;
            // Relaxed: only a count.
            blocked.fetch_add(1, Relaxed);
            rx.recv().await
        }));
    }
    // Relaxed: only a count.
    while blocked.load(Relaxed) < cancel::BATCH {
        yield_now().await;
    }
    let begun = Instant::now();
    for task in tasks {
        task.abort();
        let ended = task.await;
        assert!(ended.is_err_and(|e| e.is_cancelled()));
    }
    let took = begun.elapsed();
    // Relaxed: the tasks were awaited.
    assert_eq!(ended.load(Relaxed), cancel::BATCH);
    took
}
