//! The tree of the bench `savina_skynet`.

use super::{Outcome, Work, sum_below};
use crate::harness::{Sample, usage};
use anyhow::Result;

/// The children of a node.
pub const FAN_OUT: u64 = 10;

/// One operation is a leaf.
pub const WORK: Work = Work { metric: "leaf", step: 1, checksum: sum_below };

/// The samples of a tree with `n` leaves, taken in the process that has run it and nothing else.
pub fn samples(n: u64, (took, checksum): Outcome) -> Result<Vec<Sample>> {
    WORK.check(n, checksum)?;
    let peak = usage::peak_memory()? as f64 / 1e6;
    Ok(vec![Sample::new("time", "ms", took.as_secs_f64() * 1e3), Sample::new("peak", "MB", peak)])
}
