//! A million blocked threads: the memory of each, and the time to make one.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::memory::Crowd;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "memory",
    about: "1,000,000 threads (quick: 100,000) blocked in recv on one channel, in a fresh process; bytes (resident pages and page \
            tables) and ns, from the first spawn until all are blocked, for each thread",
    workers: &[1],
    size: Size::Exactly { full: 1_000_000, quick: 100_000, tiny: 1000 },
    runs: 5,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio::memory),
        Variant::rival("may", may::memory),
        Variant::go(),
    ],
};

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let started = Arc::new(AtomicU64::new(0));
            let (_gate, closed) = lamprey::channel::<()>();
            let crowd = Crowd::begin(n)?;
            for _ in 0..n {
                let (started, closed) = (started.clone(), closed.clone());
                lamprey::spawn(move || {
                    // Relaxed: a count, on one worker.
                    started.fetch_add(1, Relaxed);
                    closed.recv()
                });
            }
            // Relaxed: a count, on one worker.
            while started.load(Relaxed) < n {
                lamprey::yield_now();
            }
            crowd.blocked()
        })
    }))
}
