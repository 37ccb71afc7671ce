//! The memory of a crowd of threads, and the time to make it.

use crate::harness::{Sample, usage};
use anyhow::Result;
use std::time::Instant;

/// The state before the crowd is made.
pub struct Crowd {
    size: u64,
    memory: u64,
    begun: Instant,
}

impl Crowd {
    /// Begins, just before the first of `size` threads is spawned.
    pub fn begin(size: u64) -> Result<Self> {
        Ok(Self { size, memory: usage::memory()?, begun: Instant::now() })
    }

    /// All threads are blocked: makes the samples.
    pub fn blocked(self) -> Result<Vec<Sample>> {
        let took = self.begun.elapsed();
        let grown = usage::memory()?.saturating_sub(self.memory);
        let each = grown as f64 / self.size as f64;
        Ok(vec![Sample::new("memory", "bytes", each), Sample::ns_each("create", took, self.size)])
    }
}
