//! Additions under one mutex: by how many threads, and the samples.

use crate::harness::Sample;
use std::time::Duration;

/// That contend.
pub const THREADS: usize = 8;

/// `n` additions alone, `n` contended.
pub fn samples(n: u64, alone: Duration, contended: Duration) -> Vec<Sample> {
    vec![Sample::ns_each("alone", alone, n), Sample::ns_each("contended", contended, n)]
}

/// `n`, as a multiple of the threads.
pub fn rounded(n: u64) -> u64 {
    n.next_multiple_of(THREADS as u64)
}
