//! The natural programs of the benches `savina_*`: what of each its versions share, and the check of what
//! they have computed.
//!
//! A program does `n` operations and returns a checksum, which is known beforehand. A wrong one fails the
//! run. The Go programs check theirs in the same way (`go/savina.go`).

pub mod barber;
pub mod big;
pub mod bounded_buffer;
pub mod chameneos;
pub mod counting;
pub mod dictionary;
pub mod fork_join;
pub mod philosophers;
pub mod skynet;
pub mod smokers;

use crate::harness::Sample;
use anyhow::{Result, ensure};
use std::time::Duration;

/// One program, whatever runs it.
pub struct Work {
    /// The metric: its operation.
    pub metric: &'static str,
    /// A run's operations are a multiple of this.
    pub step: u64,
    /// The checksum of a number of operations.
    pub checksum: fn(u64) -> u64,
}

/// What a run of a program took, and what it computed.
pub type Outcome = (Duration, u64);

impl Work {
    /// The operations of a run of which `n` were ordered.
    pub fn rounded(&self, n: u64) -> u64 {
        n.next_multiple_of(self.step)
    }

    /// The sample of a run of `n` operations.
    ///
    /// # Errors
    /// If its checksum is wrong.
    pub fn samples(&self, n: u64, (took, checksum): Outcome) -> Result<Vec<Sample>> {
        self.check(n, checksum)?;
        Ok(vec![Sample::ns_each(self.metric, took, n)])
    }

    /// Compares a checksum with the one that is right for `n` operations.
    ///
    /// # Errors
    /// If they differ.
    pub fn check(&self, n: u64, checksum: u64) -> Result<()> {
        let right = (self.checksum)(n);
        ensure!(checksum == right, "the checksum of {n} {}s is {right}, not {checksum}", self.metric);
        Ok(())
    }
}

/// Numbers that look random, the same for all programs: Knuth's linear congruential generator.
pub struct Draw(u64);

impl Draw {
    /// The series of this number.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// The sum of the numbers below `n`.
pub fn sum_below(n: u64) -> u64 {
    (0..n).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work = Work { metric: "item", step: 40, checksum: sum_below };

    #[test]
    fn operations_are_rounded_up_to_whole_steps() {
        assert_eq!([1, 40, 41].map(|n| WORK.rounded(n)), [40, 40, 80]);
    }

    #[test]
    fn a_wrong_checksum_fails_the_run() {
        let took = Duration::from_nanos(8);
        assert_eq!(WORK.samples(4, (took, 6)).unwrap(), [Sample::new("item", "ns", 2.0)]);
        let error = WORK.samples(4, (took, 7)).unwrap_err();
        assert_eq!(error.to_string(), "the checksum of 4 items is 6, not 7");
    }
}
