//! The sample of a ping-pong.

use crate::harness::Sample;
use std::time::Duration;

/// A round is two messages.
pub fn samples(took: Duration, rounds: u64) -> Vec<Sample> {
    vec![Sample::ns_each("message", took, rounds * 2)]
}
