//! The life of a thread that does nothing: spawned, run, joined.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::{may, tokio};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Threads alive at once in the second half.
pub const BATCH: u64 = 1000;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "spawn",
    about: "spawn a thread that returns a number, and join it: one_by_one; or spawn 1000, then join them: in_batches; \
            ns for each thread",
    workers: &[1],
    size: Size::UntilTakes { first: BATCH, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio::spawn),
        Variant::rival("may", may::spawn),
        Variant::go(),
    ],
};

/// Both halves, of `batches` batches each.
pub fn samples(single: Duration, batched: Duration, batches: u64) -> Vec<Sample> {
    let threads = batches * BATCH;
    vec![Sample::ns_each("one_by_one", single, threads), Sample::ns_each("in_batches", batched, threads)]
}

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(BATCH);
        let (single, batched) = runtime.run(move || {
            let begun = Instant::now();
            for i in 0..batches * BATCH {
                assert_eq!(lamprey::spawn(move || i).join().expect("returning does not panic"), i);
            }
            let single = begun.elapsed();
            let begun = Instant::now();
            let mut hosts = Vec::with_capacity(BATCH as usize);
            for _ in 0..batches {
                hosts.extend((0..BATCH).map(|i| lamprey::spawn(move || i)));
                for (i, host) in hosts.drain(..).enumerate() {
                    assert_eq!(host.join().expect("returning does not panic"), i as u64);
                }
            }
            (single, begun.elapsed())
        });
        Ok(samples(single, batched, batches))
    }))
}
