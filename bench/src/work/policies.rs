//! How long a thread waits until it runs again.

use crate::harness::Sample;
use std::time::{Duration, Instant};

/// How many threads there are at a time.
pub const CROWDS: [u64; 4] = [10, 100, 1000, 10_000];

/// What one thread has seen of its intervals.
#[derive(Clone, Copy, Default)]
pub struct Intervals {
    total: Duration,
    count: u64,
    worst: Duration,
}

impl Intervals {
    /// The thread runs again, and it ran last at `last`, which becomes now.
    pub fn note(&mut self, last: &mut Instant) {
        let now = Instant::now();
        let interval = now - std::mem::replace(last, now);
        self.total += interval;
        self.count += 1;
        self.worst = self.worst.max(interval);
    }

    /// Those of all threads of a crowd, in microseconds.
    pub fn samples(crowd: u64, all: impl IntoIterator<Item = Self>) -> [Sample; 2] {
        let sum = all.into_iter().fold(Self::default(), |sum, one| Self {
            total: sum.total + one.total,
            count: sum.count + one.count,
            worst: sum.worst.max(one.worst),
        });
        let mean = sum.total.as_secs_f64() * 1e6 / sum.count as f64;
        let sample = |name: &str, value| Sample::new(&format!("{name}-{crowd}"), "us", value);
        [sample("mean", mean), sample("worst", sum.worst.as_secs_f64() * 1e6)]
    }
}
