//! Natural programs, most of them from the Savina suite of actor benchmarks (Imam and Sarkar, 2014), as a
//! user of each system would write them from its documentation.
//!
//! Each file has Lamprey's program; tokio's are in `rivals/tokio_savina`, Go's in `go/savina_*.go`.

pub mod barber;
pub mod big;
pub mod bounded_buffer;
pub mod chameneos;
pub mod counting;
pub mod dictionary;
pub mod fork_join;
pub mod philosophers;
pub mod skynet;
pub mod smokers;

use super::ours;
use crate::harness::{Bench, Runner, Size, Variant};
use crate::work::savina::Work;
use anyhow::Result;
use std::time::{Duration, Instant};

/// The name of all of them on the command line.
pub const GROUP: &str = "savina";

/// All of them, with the thread ring, which is one of the suite's.
pub fn all() -> Vec<&'static Bench> {
    let named = |bench: &&Bench| bench.name.starts_with("savina_") || bench.name == super::ring::BENCH.name;
    super::ALL.into_iter().filter(named).collect()
}

/// A bench whose runs take some 100 ms, of a first few operations.
const fn bench(name: &'static str, about: &'static str, first: u64, variants: &'static [Variant]) -> Bench {
    let size = Size::UntilTakes { first, goal: Duration::from_millis(100) };
    Bench { name, about, workers: &[1, 2], size, runs: 11, variants }
}

/// Runs `program` as Lamprey's main host.
fn runner(workers: usize, work: &'static Work, program: fn(u64) -> u64) -> Result<Runner> {
    let runtime = ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = work.rounded(n);
        let outcome = runtime.run(move || {
            let begun = Instant::now();
            let checksum = program(n);
            (begun.elapsed(), checksum)
        });
        work.samples(n, outcome)
    }))
}
