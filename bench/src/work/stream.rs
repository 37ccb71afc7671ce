//! The places of the buffer, and the sample.

use crate::harness::Sample;
use std::time::Duration;

/// Places in the buffer, and, where there is no end of them, numbers between two yields of the producer.
pub const PLACES: u64 = 64;

/// The producer is started after the clock is.
pub fn samples(took: Duration, n: u64) -> Vec<Sample> {
    vec![Sample::ns_each("message", took, n)]
}
