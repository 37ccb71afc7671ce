//! The number of choices that are timed together, and the samples.

use crate::harness::Sample;
use std::time::Duration;

/// The numbers that are ready in the one channel before the choices begin.
pub const BATCH: u64 = 100;

/// `n` choices among each of 2, 8 and 64 receivers, timed separately.
pub fn samples(n: u64, [of_2, of_8, of_64]: [Duration; 3]) -> Vec<Sample> {
    let of = |name, took| Sample::ns_each(name, took, n);
    vec![of("of_2", of_2), of("of_8", of_8), of("of_64", of_64)]
}
