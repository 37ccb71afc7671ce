//! What a channel weighs: the difference of two crowds.

use crate::harness::Sample;

/// Bytes of the handle that a sender is held by, here and elsewhere.
const HANDLE: f64 = 8.0;

/// What both crowds of a run weigh: the one on a single channel, and the one in which each has its own.
pub fn samples(shared: &[Sample], mut own: Vec<Sample>) -> Vec<Sample> {
    let beside = own[0].value - shared[0].value - HANDLE;
    own.push(Sample::new("channel", "bytes", beside.max(0.0)));
    own
}
