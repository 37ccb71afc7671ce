//! The memory of a channel: the difference of two crowds.

use crate::harness::Sample;

/// The bytes of the handle by which a sender is held, in Lamprey and in the rivals.
const HANDLE: f64 = 8.0;

/// The samples of both crowds of a run: the one on a single channel, and the one in which each thread has its
/// own.
pub fn samples(shared: &[Sample], mut own: Vec<Sample>) -> Vec<Sample> {
    let beside = own[0].value - shared[0].value - HANDLE;
    own.push(Sample::new("channel", "bytes", beside.max(0.0)));
    own
}
