//! Futures of `tokio::sync` without tokio's runtime: under `wait`, and as parasites.

use super::ours;
use crate::rivals::tokio_sync;
use crate::work::sync::{Ten, WAITS, sides};
use anyhow::{Result, ensure};
use bench_harness::{Bench, Runner, Sample, Size, Variant};
use lamprey::wait;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "tokio_sync",
    about: "each, task, loop: ns for ten operations of tokio::sync (mpsc, oneshot, watch, broadcast, Notify, Semaphore, RwLock, Mutex), none of \
            which waits, as a future that is blocked on, a task that is joined, and a part of a long future; wait: ns for one that waits for \
            the other of two tasks",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(400) },
    runs: 21,
    variants: &[
        Variant::ours("hosts", hosts),
        Variant::ours("parasites", parasites),
        Variant::rival("tokio", tokio_sync::tasks),
    ],
};

fn hosts(workers: usize) -> Result<Runner> {
    let runtime = ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let mut ten = Ten::new();
            let begun = Instant::now();
            for i in 0..n {
                black_box(wait(ten.ready(black_box(i))));
            }
            let each = begun.elapsed();
            let begun = Instant::now();
            wait(async {
                for i in 0..n {
                    black_box(ten.ready(black_box(i)).await);
                }
            });
            let in_one = begun.elapsed();
            let rounds = n.div_ceil(WAITS);
            let (one, other) = sides();
            let begun = Instant::now();
            let answers = lamprey::spawn(move || wait(other.answer(rounds)));
            let sum =
                lamprey::spawn(move || wait(one.ask(rounds))).join().expect("no thread of a bench panics");
            answers.join().expect("no thread of a bench panics");
            let waits = begun.elapsed();
            ensure!(sum == rounds * (rounds - 1), "a wrong sum: {sum}");
            Ok(vec![
                Sample::ns_each("each", each, n),
                Sample::ns_each("loop", in_one, n),
                Sample::ns_each("wait", waits, rounds * WAITS),
            ])
        })
    }))
}

fn parasites(workers: usize) -> Result<Runner> {
    let runtime = ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let mut ten = Ten::new();
            let begun = Instant::now();
            for i in 0..n {
                // There and back, as it must be `'static`.
                let task = lamprey::parasite(async move {
                    black_box(ten.ready(black_box(i)).await);
                    ten
                });
                ten = task.join().expect("no thread of a bench panics");
            }
            let task = begun.elapsed();
            let begun = Instant::now();
            let long = lamprey::parasite(async move {
                for i in 0..n {
                    black_box(ten.ready(black_box(i)).await);
                }
            });
            long.join().expect("no thread of a bench panics");
            let in_one = begun.elapsed();
            let rounds = n.div_ceil(WAITS);
            let (one, other) = sides();
            let begun = Instant::now();
            let answers = lamprey::parasite(other.answer(rounds));
            let sum = lamprey::parasite(one.ask(rounds)).join().expect("no thread of a bench panics");
            answers.join().expect("no thread of a bench panics");
            let waits = begun.elapsed();
            ensure!(sum == rounds * (rounds - 1), "a wrong sum: {sum}");
            Ok(vec![
                Sample::ns_each("task", task, n),
                Sample::ns_each("loop", in_one, n),
                Sample::ns_each("wait", waits, rounds * WAITS),
            ])
        })
    }))
}
