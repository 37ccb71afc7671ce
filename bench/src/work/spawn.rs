//! The number of threads that live at once, and the samples.

use crate::harness::Sample;
use std::time::Duration;

/// The threads that live at once in the second half.
pub const BATCH: u64 = 1000;

/// The samples of both halves, of `batches` batches each.
pub fn samples(single: Duration, batched: Duration, batches: u64) -> Vec<Sample> {
    let threads = batches * BATCH;
    vec![Sample::ns_each("one_by_one", single, threads), Sample::ns_each("in_batches", batched, threads)]
}
