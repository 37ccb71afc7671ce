//! Tasks that are started and joined, and tasks that are sent messages and joined.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::fork_join::{CREATE, CREATED, PLACES, RECEIVERS, THROUGHPUT};
use ::tokio::sync::mpsc;
use ::tokio::task::JoinSet;
use anyhow::Result;

/// See `about` of `savina_fork_join_create`. The handles are in a `Vec`, as Lamprey's are.
pub fn create(workers: usize) -> Result<Runner> {
    runner(workers, &CREATE, batches)
}

async fn batches(tasks: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..tasks / CREATED {
        let tasks: Vec<_> = (0..CREATED).map(|i| ::tokio::spawn(async move { i })).collect();
        for task in tasks {
            sum += task.await.expect("returning does not panic");
        }
    }
    sum
}

/// See `about` of `savina_fork_join_throughput`.
pub fn throughput(workers: usize) -> Result<Runner> {
    runner(workers, &THROUGHPUT, numbers)
}

async fn numbers(messages: u64) -> u64 {
    let mut queues = Vec::new();
    let mut receivers = JoinSet::new();
    for _ in 0..RECEIVERS {
        let (tx, mut rx) = mpsc::channel(PLACES);
        queues.push(tx);
        receivers.spawn(async move {
            let mut sum = 0;
            while let Some(number) = rx.recv().await {
                sum += number;
            }
            sum
        });
    }
    for number in 0..messages / RECEIVERS {
        for queue in &queues {
            queue.send(number).await.expect("the receivers take all");
        }
    }
    drop(queues);
    receivers.join_all().await.into_iter().sum()
}
