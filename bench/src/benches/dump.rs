//! What it costs to look at all threads, and for how long a worker is stopped by it.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use anyhow::Result;
use lamprey::{inspect, parasite, spawn, yield_now};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Parasites for each host.
const PARASITES: u64 = 100;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "dump",
    about: "ms to look at 100,000 blocked hosts (quick: 10,000), in a fresh process: `threads` as rows, `dump` with the stacks, as text, \
            `stacks` by what is used; or at 100 times as many parasites, by site. `.._stop`: the longest time that a thread of the same \
            worker waited for its turn meanwhile, which does nothing but yield",
    workers: &[1],
    size: Size::Exactly { full: 100_000, quick: 10_000, tiny: 100 },
    runs: 5,
    variants: &[Variant::ours("hosts", hosts), Variant::ours("parasites", parasites)],
};

fn hosts(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let started = Arc::new(AtomicU64::new(0));
            let (_gate, closed) = lamprey::channel::<()>();
            for _ in 0..n {
                let (started, closed) = (started.clone(), closed.clone());
                spawn(move || {
                    // Relaxed: a count, on one worker.
                    started.fetch_add(1, Relaxed);
                    closed.recv()
                });
            }
            // Relaxed: a count, on one worker.
            while started.load(Relaxed) < n {
                yield_now();
            }
            let mut samples = look("threads", || drop(black_box(inspect::threads())));
            samples.extend(look("dump", || drop(black_box(inspect::dump().to_string()))));
            samples.extend(look("stacks", || drop(black_box(inspect::stacks()))));
            Ok(samples)
        })
    }))
}

fn parasites(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let (_gate, closed) = lamprey::channel::<()>();
            for _ in 0..n * PARASITES {
                let closed = closed.clone();
                parasite(async move { closed.recv_async().await }).detach();
            }
            Ok(look("threads", || drop(black_box(inspect::threads()))))
        })
    }))
}

/// The time of a look, and the longest stop of the worker in another one. (The first one of all reads the program's tables.)
fn look(name: &str, look: impl Fn()) -> Vec<Sample> {
    look();
    let begun = Instant::now();
    look();
    let took = begun.elapsed();
    let stop = Arc::new(AtomicBool::new(false));
    let stops = stop.clone();
    let yields = spawn(move || {
        let (mut longest, mut last) = (Duration::ZERO, Instant::now());
        // Relaxed: a flag, on one worker.
        while !stops.load(Relaxed) {
            yield_now();
            let now = Instant::now();
            longest = longest.max(now - last);
            last = now;
        }
        longest
    });
    yield_now();
    look();
    // Relaxed: a flag, on one worker.
    stop.store(true, Relaxed);
    let longest = yields.join().expect("it ends");
    let ms = |metric: &str, time: Duration| Sample::new(metric, "ms", time.as_secs_f64() * 1e3);
    vec![ms(name, took), ms(&format!("{name}_stop"), longest)]
}
