//! Threads that are started from outside of their runtime, by an OS thread.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::tokio_tasks;
use crate::work::spawn::{BATCH, samples};
use anyhow::Result;
use std::time::Instant;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "from_outside",
    about: "on an OS thread, start a thread of a runtime that returns a number, and join it: one_by_one; or start 1000, then join \
            them: in_batches; ns for each thread",
    workers: &[1, 2],
    size: Size::UntilTakes { first: BATCH, goal: std::time::Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("parasite", |workers| {
            let runtime = super::ours::runtime(workers)?;
            let handle = runtime.handle();
            runner(runtime, move |i| handle.parasite(async move { i }), lamprey::ParasiteHandle::join)
        }),
        Variant::ours("host", |workers| {
            let runtime = super::ours::runtime(workers)?;
            let handle = runtime.handle();
            runner(runtime, move |i| handle.spawn(move || i), lamprey::JoinHandle::join)
        }),
        Variant::rival("tokio", tokio_tasks::from_outside),
    ],
};

/// Measures on the calling OS thread.
fn runner<H: 'static>(
    runtime: lamprey::Runtime,
    start: impl Fn(u64) -> H + 'static,
    join: fn(H) -> Result<u64, lamprey::JoinError>,
) -> Result<Runner> {
    Ok(Box::new(move |n| {
        let _keeps = &runtime;
        let batches = n.div_ceil(BATCH);
        let begun = Instant::now();
        for i in 0..batches * BATCH {
            assert_eq!(join(start(i)).expect("returning does not panic"), i);
        }
        let single = begun.elapsed();
        let begun = Instant::now();
        let mut started = Vec::with_capacity(BATCH as usize);
        for _ in 0..batches {
            started.extend((0..BATCH).map(&start));
            for (i, one) in started.drain(..).enumerate() {
                assert_eq!(join(one).expect("returning does not panic"), i as u64);
            }
        }
        Ok(samples(single, begun.elapsed(), batches))
    }))
}
