//! Additions under one mutex: the number of threads, and the samples.

use crate::harness::Sample;
use std::time::Duration;

/// The threads that contend.
pub const THREADS: usize = 8;

/// `n` additions by one thread, and `n` contended.
pub fn samples(n: u64, alone: Duration, contended: Duration) -> Vec<Sample> {
    vec![Sample::ns_each("alone", alone, n), Sample::ns_each("contended", contended, n)]
}

/// `n`, rounded up to a multiple of the threads.
pub fn rounded(n: u64) -> u64 {
    n.next_multiple_of(THREADS as u64)
}
