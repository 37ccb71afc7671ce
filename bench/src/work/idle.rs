//! Idle threads, and the time for which they are observed.

use crate::harness::{Sample, usage};
use anyhow::Result;
use std::time::{Duration, Instant};

/// The number of threads that wait for a message.
pub const HOSTS: usize = 100;

/// The time to become idle, and the measured time.
pub fn times(millis: u64) -> (Duration, Duration) {
    (Duration::from_millis(millis.min(500)), Duration::from_millis(millis))
}

/// The measured time.
pub struct Window {
    opened: Instant,
    used: Duration,
}

impl Window {
    /// Begins now.
    pub fn open() -> Result<Self> {
        Ok(Self { opened: Instant::now(), used: usage::processor_time()? })
    }

    /// Ends now.
    pub fn close(self) -> Result<Vec<Sample>> {
        let used = usage::processor_time()?.saturating_sub(self.used);
        Ok(vec![Sample::new("cpu", "%", usage::percent(used, self.opened.elapsed()))])
    }
}
