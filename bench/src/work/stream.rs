//! The places of the buffer, and the sample.

use crate::harness::Sample;
use std::time::Duration;

/// The places of the buffer; for an unbounded one, the numbers between two yields of the producer.
pub const PLACES: u64 = 64;

/// The sample; the producer is started after the clock.
pub fn samples(took: Duration, n: u64) -> Vec<Sample> {
    vec![Sample::ns_each("message", took, n)]
}
