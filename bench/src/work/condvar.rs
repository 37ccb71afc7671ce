//! The bounded queue: its places, who is at it, and the sum of what goes through.

use crate::harness::Sample;
use std::time::Duration;

/// In a queue. The paper does not say how many it had; few, so that threads wait.
pub const PLACES: usize = 16;
/// Producers, and consumers, of `many`; pairs with a queue each in the bench of affinity.
pub const MANY: u64 = 4;

/// `n` numbers one way, `n` the other.
pub fn samples(n: u64, pair: Duration, many: Duration) -> Vec<Sample> {
    vec![Sample::ns_each("pair", pair, n), Sample::ns_each("many", many, n)]
}

/// `n`, as a multiple of the producers.
pub fn rounded(n: u64) -> u64 {
    n.next_multiple_of(MANY)
}

/// What all have received if `producers` have each sent the numbers below `each`.
pub fn sum(each: u64, producers: u64) -> u64 {
    (0..each).sum::<u64>() * producers
}
