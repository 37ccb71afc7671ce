//! A tree of tasks.

use super::{run, runtime};
use crate::harness::Runner;
use crate::work::savina::skynet::{FAN_OUT, samples};
use ::tokio::sync::mpsc;
use anyhow::Result;
use std::time::Instant;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let outcome = run(&runtime, async move {
            let begun = Instant::now();
            let (tx, mut rx) = mpsc::channel(1);
            node(tx, 0, n);
            let sum = rx.recv().await.expect("the root sends");
            (begun.elapsed(), sum)
        });
        samples(n, outcome)
    }))
}

fn node(parent: mpsc::Sender<u64>, first: u64, leaves: u64) {
    ::tokio::spawn(async move {
        let sum = if leaves == 1 { first } else { sum(first, leaves).await };
        parent.send(sum).await.expect("the parent receives from all its children");
    });
}

async fn sum(first: u64, leaves: u64) -> u64 {
    let (tx, mut rx) = mpsc::channel(1);
    let each = leaves / FAN_OUT;
    (0..FAN_OUT).for_each(|child| node(tx.clone(), first + child * each, each));
    drop(tx);
    let mut sum = 0;
    while let Some(part) = rx.recv().await {
        sum += part;
    }
    sum
}
