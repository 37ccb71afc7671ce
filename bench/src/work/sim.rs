//! Simulated programs: pairs of threads that send a number to and fro. `bench/simulators` has these numbers too.

use crate::harness::Sample;
use crate::harness::usage::processor_time;
use anyhow::Result;
use std::time::Duration;

/// The long runs have these seeds: 0 and up.
pub const SEEDS: u64 = 8;
/// Pairs in a long run.
pub const PAIRS: u64 = 10;
/// Pairs, and rounds, of a small run.
pub const SMALL: (u64, u64) = (2, 10);

/// The rounds of each pair, if all long runs together are to have about `messages`.
pub fn rounds(messages: u64) -> u64 {
    (messages / (SEEDS * PAIRS * 2)).max(1)
}

/// The processor time of `work`. It is the same as the time on a machine with nothing else to do, because simulators have
/// one kernel thread, which never waits; on others it says more.
pub fn timed<T>(work: impl FnOnce() -> T) -> Result<(Duration, T)> {
    let begun = processor_time()?;
    let result = work();
    Ok((processor_time()?.saturating_sub(begun), result))
}

/// What the long runs have taken.
pub fn of_long(took: Duration, steps: u64, rounds: u64) -> Vec<Sample> {
    let messages = SEEDS * PAIRS * rounds * 2;
    vec![Sample::ns_each("step", took, steps.max(1)), Sample::ns_each("message", took, messages)]
}

/// What `n` small runs have taken, and as many empty ones.
pub fn of_short(small: Duration, empty: Duration, n: u64) -> Vec<Sample> {
    let each = |took: Duration| took.as_secs_f64() * 1e6 / n as f64;
    vec![Sample::new("small", "us", each(small)), Sample::new("empty", "us", each(empty))]
}
