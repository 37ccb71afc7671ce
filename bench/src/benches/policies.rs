//! The scheduling interval: how long a thread waits until it runs again, by the policy and the number of threads.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::tokio;
use crate::work::policies::{CROWDS, Intervals};
use anyhow::Result;
use lamprey::policy::{Fifo, Hybrid, Lifo, Random};
use lamprey::{Policy, Runtime};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "policies",
    about: "10, 100, 1000 or 10,000 threads on one worker yield in a loop (*PicoThreads: Lightweight Threads in Java*, 5.4: the scheduling interval, by FIFO, LIFO and random); us \
            from one run of a thread to its next: the mean, and the worst of all threads",
    workers: &[1],
    size: Size::UntilTakes { first: 20_000, goal: Duration::from_millis(100) },
    runs: 5,
    variants: &[
        Variant::ours("hybrid", |_| with(Hybrid::default)),
        Variant::ours("fifo", |_| with(Fifo::default)),
        Variant::ours("lifo", |_| with(Lifo::default)),
        Variant::ours("random", |_| with(|| Random::seeded(1))),
        Variant::rival("tokio", tokio::policies),
    ],
};

fn with<P: Policy>(make: fn() -> P) -> Result<Runner> {
    let runtime = Runtime::builder().workers(1).policy(make).build()?;
    Ok(Box::new(move |n| Ok(CROWDS.iter().flat_map(|&crowd| run(&runtime, crowd, n)).collect())))
}

/// `n` yields of `crowd` threads together, at least two each.
fn run(runtime: &Runtime, crowd: u64, n: u64) -> [Sample; 2] {
    let rounds = (n / crowd).max(2);
    runtime.run(move || {
        let yields = move || {
            // All have started when the first goes on.
            lamprey::yield_now();
            let (mut seen, mut last) = (Intervals::default(), Instant::now());
            for _ in 0..rounds {
                lamprey::yield_now();
                seen.note(&mut last);
            }
            seen
        };
        let hosts: Vec<_> = (0..crowd).map(|_| lamprey::spawn(yields)).collect();
        Intervals::samples(crowd, hosts.into_iter().map(|host| host.join().expect("yielding does not panic")))
    })
}
