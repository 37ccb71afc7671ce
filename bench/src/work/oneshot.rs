//! The sample of the channel for one value.

use crate::harness::Sample;
use std::time::Duration;

/// `n` of them.
pub fn samples(took: Duration, n: u64) -> Vec<Sample> {
    vec![Sample::ns_each("oneshot", took, n)]
}
