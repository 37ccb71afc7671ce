//! Producers and consumers about one buffer. The receiver of tokio's channel is for one task: to share it, it
//! is put into a mutex. The crate `async-channel` has one for many.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::bounded_buffer::{CONSUMERS, PLACES, PRODUCERS, WORK};
use ::async_channel as channel;
use ::tokio::sync::{Mutex, mpsc};
use ::tokio::task::JoinSet;
use anyhow::Result;
use std::sync::Arc;

const TAKEN: &str = "the consumers take all";

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, over_mpsc)
}

/// The same over the crate `async-channel`.
pub fn async_channel(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, over_async_channel)
}

async fn over_mpsc(items: u64) -> u64 {
    let (tx, rx) = mpsc::channel(PLACES);
    for _ in 0..PRODUCERS {
        let tx = tx.clone();
        ::tokio::spawn(async move {
            for item in 0..items / PRODUCERS {
                tx.send(item).await.expect(TAKEN);
            }
        });
    }
    drop(tx);
    let rx = Arc::new(Mutex::new(rx));
    let mut consumers = JoinSet::new();
    for _ in 0..CONSUMERS {
        let rx = rx.clone();
        consumers.spawn(async move {
            let mut sum = 0;
            loop {
                // In a statement of its own, or the mutex would stay locked meanwhile.
                let item = rx.lock().await.recv().await;
                match item {
                    Some(item) => sum += item,
                    None => return sum,
                }
            }
        });
    }
    consumers.join_all().await.into_iter().sum()
}

async fn over_async_channel(items: u64) -> u64 {
    let (tx, rx) = channel::bounded(PLACES);
    for _ in 0..PRODUCERS {
        let tx = tx.clone();
        ::tokio::spawn(async move {
            for item in 0..items / PRODUCERS {
                tx.send(item).await.expect(TAKEN);
            }
        });
    }
    drop(tx);
    let mut consumers = JoinSet::new();
    for _ in 0..CONSUMERS {
        let rx = rx.clone();
        consumers.spawn(async move {
            let mut sum = 0;
            while let Ok(item) = rx.recv().await {
                sum += item;
            }
            sum
        });
    }
    consumers.join_all().await.into_iter().sum()
}
