//! The dining philosophers. Of two of `std`'s mutexes the first would be held while a task waits for the
//! second: that is what tokio's are for.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::philosophers::{SEATS, WORK, each, forks};
use ::tokio::sync::Mutex;
use ::tokio::task::JoinSet;
use anyhow::Result;
use std::sync::Arc;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, dinner)
}

async fn dinner(meals: u64) -> u64 {
    let table: Arc<[Mutex<u64>]> = (0..SEATS).map(|_| Mutex::new(0)).collect();
    let mut philosophers = JoinSet::new();
    for seat in 0..SEATS {
        let table = table.clone();
        philosophers.spawn(async move {
            let (first, second) = forks(seat);
            for _ in 0..each(meals) {
                let mut first = table[first].lock().await;
                let mut second = table[second].lock().await;
                *first += 1;
                *second += 1;
            }
        });
    }
    philosophers.join_all().await;
    let mut sum = 0;
    for fork in table.iter() {
        sum += *fork.lock().await;
    }
    sum
}
