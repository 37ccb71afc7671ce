//! The size of the ring, and the sample.

use crate::harness::Sample;
use std::time::Duration;

/// Threads in the ring.
pub const HOSTS: u64 = 503;

/// The sample of `hops` hops; the ring is made before the clock starts.
pub fn samples(took: Duration, hops: u64) -> Vec<Sample> {
    vec![Sample::ns_each("hop", took, hops)]
}
