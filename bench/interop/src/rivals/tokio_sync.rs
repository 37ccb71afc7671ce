//! The operations of `tokio::sync` on tokio.

use super::runtime;
use crate::work::sync::{Ten, WAITS, sides};
use anyhow::{Result, ensure};
use bench_harness::{Runner, Sample};
use std::hint::black_box;
use std::time::Instant;

/// `each` is `block_on`; all others are in tasks.
pub fn tasks(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let mut ten = Ten::new();
        let begun = Instant::now();
        for i in 0..n {
            black_box(runtime.block_on(ten.ready(black_box(i))));
        }
        let each = begun.elapsed();
        let main = async move {
            let begun = Instant::now();
            for i in 0..n {
                let task = tokio::spawn(async move {
                    black_box(ten.ready(black_box(i)).await);
                    ten
                });
                ten = task.await?;
            }
            let task = begun.elapsed();
            let begun = Instant::now();
            for i in 0..n {
                black_box(ten.ready(black_box(i)).await);
            }
            let in_one = begun.elapsed();
            let rounds = n.div_ceil(WAITS);
            let (one, other) = sides();
            let begun = Instant::now();
            let answers = tokio::spawn(other.answer(rounds));
            let sum = tokio::spawn(one.ask(rounds)).await?;
            answers.await?;
            let waits = begun.elapsed();
            ensure!(sum == rounds * (rounds - 1), "a wrong sum: {sum}");
            Ok(vec![
                Sample::ns_each("each", each, n),
                Sample::ns_each("task", task, n),
                Sample::ns_each("loop", in_one, n),
                Sample::ns_each("wait", waits, rounds * WAITS),
            ])
        };
        runtime.block_on(async { tokio::spawn(main).await? })
    }))
}
