//! Threads that do nothing, and the time for which they are watched.

use crate::harness::{Sample, usage};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Threads that wait for a message.
pub const HOSTS: usize = 100;

/// Time to come to rest, and the time that is measured.
pub fn times(millis: u64) -> (Duration, Duration) {
    (Duration::from_millis(millis.min(500)), Duration::from_millis(millis))
}

/// The time that is measured.
pub struct Window {
    opened: Instant,
    used: Duration,
}

impl Window {
    /// From now.
    pub fn open() -> Result<Self> {
        Ok(Self { opened: Instant::now(), used: usage::processor_time()? })
    }

    /// Until now.
    pub fn close(self) -> Result<Vec<Sample>> {
        let used = usage::processor_time()?.saturating_sub(self.used);
        Ok(vec![Sample::new("cpu", "%", usage::percent(used, self.opened.elapsed()))])
    }
}
