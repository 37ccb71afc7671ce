//! What a crowd of threads weighs, and how long it takes to make it.

use crate::harness::{Sample, usage};
use anyhow::Result;
use std::time::Instant;

/// What was there before the crowd came.
pub struct Crowd {
    size: u64,
    memory: u64,
    begun: Instant,
}

impl Crowd {
    /// Just before the first of `size` is spawned.
    pub fn begin(size: u64) -> Result<Self> {
        Ok(Self { size, memory: usage::memory()?, begun: Instant::now() })
    }

    /// All of them are blocked.
    pub fn blocked(self) -> Result<Vec<Sample>> {
        let took = self.begun.elapsed();
        let grown = usage::memory()?.saturating_sub(self.memory);
        let each = grown as f64 / self.size as f64;
        Ok(vec![Sample::new("memory", "bytes", each), Sample::ns_each("create", took, self.size)])
    }
}
