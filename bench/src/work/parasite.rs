//! The two metrics of one parasite at a time.

use crate::harness::Sample;
use std::time::Duration;

/// It ends immediately.
pub const AT_ONCE: &str = "at_once";
/// It blocks once.
pub const BLOCKS: &str = "blocks";

/// Both metrics, of `n` threads each.
pub fn samples(at_once: Duration, blocks: Duration, n: u64) -> Vec<Sample> {
    vec![Sample::ns_each(AT_ONCE, at_once, n), Sample::ns_each(BLOCKS, blocks, n)]
}
