//! The sample of the oneshot channel.

use crate::harness::Sample;
use std::time::Duration;

/// The sample of `n` channels.
pub fn samples(took: Duration, n: u64) -> Vec<Sample> {
    vec![Sample::ns_each("oneshot", took, n)]
}
