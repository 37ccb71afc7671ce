//! The life of a thread that does nothing: spawned, run, joined.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::spawn::{BATCH, samples};
use anyhow::Result;
use std::time::{Duration, Instant};

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

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
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
