//! The Fibonacci number to compute, and the sample.

use crate::harness::Sample;
use std::time::Duration;

/// The index of the number.
pub const N: u64 = 27;
/// The number.
pub const FIB: u64 = 196_418;

/// The sample of `times` repetitions.
pub fn samples(took: Duration, times: u64) -> Vec<Sample> {
    vec![Sample::new("time", "ms", took.as_secs_f64() * 1e3 / times as f64)]
}
