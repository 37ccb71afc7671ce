//! The time for which the host waits at a yield, and its samples.

use crate::harness::Sample;
use anyhow::{Result, ensure};
use std::time::Duration;

/// The waits of the host.
#[derive(Default)]
pub struct Waits(Vec<Duration>);

impl Waits {
    /// Adds a wait that has ended.
    pub fn add(&mut self, wait: Duration) {
        self.0.push(wait);
    }

    /// The samples, if the players took `took` for `messages`.
    pub fn samples(mut self, took: Duration, messages: u64) -> Result<Vec<Sample>> {
        ensure!(!self.0.is_empty(), "the host never had a turn");
        self.0.sort_unstable();
        let us = |percent: usize| self.0[(self.0.len() - 1) * percent / 100].as_secs_f64() * 1e6;
        let wait = |metric, percent| Sample::new(metric, "us", us(percent));
        Ok(vec![Sample::ns_each("message", took, messages), wait("wait_p50", 50), wait("wait_p99", 99)])
    }
}
