//! Yielding: only the run queue.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::yielding::HOSTS;
use anyhow::Result;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "yield",
    about: "500 threads yield in a loop, all on one worker; ns for each yield",
    workers: &[1],
    size: Size::UntilTakes { first: HOSTS * 20, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio::yielding),
        Variant::rival("may", may::yielding),
        Variant::go(),
    ],
};

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(HOSTS);
        let took = runtime.run(move || {
            let begun = Instant::now();
            let yields = move || (0..rounds).for_each(|_| lamprey::yield_now());
            let hosts: Vec<_> = (0..HOSTS).map(|_| lamprey::spawn(yields)).collect();
            hosts.into_iter().for_each(|h| h.join().expect("yielding does not panic"));
            begun.elapsed()
        });
        Ok(vec![Sample::ns_each("yield", took, rounds * HOSTS)])
    }))
}
