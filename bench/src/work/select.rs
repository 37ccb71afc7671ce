//! How many choices are timed together, and the samples.

use crate::harness::Sample;
use std::time::Duration;

/// Numbers that wait in the one channel before it is chosen from.
pub const BATCH: u64 = 100;

/// `n` choices among 2, 8 and 64, each timed by itself.
pub fn samples(n: u64, [of_2, of_8, of_64]: [Duration; 3]) -> Vec<Sample> {
    let of = |name, took| Sample::ns_each(name, took, n);
    vec![of("of_2", of_2), of("of_8", of_8), of("of_64", of_64)]
}
