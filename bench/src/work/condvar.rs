//! The bounded queue: its size, its threads, and the sum of the numbers that pass through it.

use crate::harness::Sample;
use std::time::Duration;

/// The places of a queue. The paper does not give its number; here it is small, so that threads wait.
pub const PLACES: usize = 16;
/// The producers, and the consumers, of `many`; in the bench of affinity the pairs, each with a queue.
pub const MANY: u64 = 4;

/// `n` numbers with one pair, and `n` with many threads.
pub fn samples(n: u64, pair: Duration, many: Duration) -> Vec<Sample> {
    vec![Sample::ns_each("pair", pair, n), Sample::ns_each("many", many, n)]
}

/// `n`, rounded up to a multiple of the producers.
pub fn rounded(n: u64) -> u64 {
    n.next_multiple_of(MANY)
}

/// The sum that all receive if each of `producers` has sent the numbers below `each`.
pub fn sum(each: u64, producers: u64) -> u64 {
    (0..each).sum::<u64>() * producers
}
