//! Cancelled threads: the number that is blocked at a time, and the count of their ends.

use crate::harness::Sample;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The number of threads that are blocked at a time.
pub const BATCH: u64 = 100;

/// The sample of `batches` batches.
pub fn samples(took: Duration, batches: u64) -> Vec<Sample> {
    vec![Sample::ns_each("cancel", took, batches * BATCH)]
}

/// Counts its drop, at the end of its thread.
pub struct Witness(pub Arc<AtomicU64>);

impl Drop for Witness {
    fn drop(&mut self) {
        // Relaxed: joining the thread orders it before the load.
        self.0.fetch_add(1, Relaxed);
    }
}
