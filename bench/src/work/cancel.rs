//! Threads that are cancelled: how many are blocked at a time, and what counts their ends.

use crate::harness::Sample;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Threads that are blocked at a time.
pub const BATCH: u64 = 100;

/// So many batches.
pub fn samples(took: Duration, batches: u64) -> Vec<Sample> {
    vec![Sample::ns_each("cancel", took, batches * BATCH)]
}

/// Counts its end.
pub struct Witness(pub Arc<AtomicU64>);

impl Drop for Witness {
    fn drop(&mut self) {
        // Relaxed: joining the thread orders it before the look.
        self.0.fetch_add(1, Relaxed);
    }
}
