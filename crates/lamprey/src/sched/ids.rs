//! [`Ids`]: the numbers of a runtime's threads.

use crate::sync_shim::{Ordering, plain::AtomicU64};

/// Numbers for threads that no worker numbers itself. Numbers are dealt out modulo `workers + 1`: each worker has one residue for what is
/// spawned on it, which costs no shared counter; these have residue 0.
pub(crate) struct Ids {
    taken: AtomicU64,
    stride: u64,
}

impl Ids {
    pub(super) fn new(workers: usize) -> Self {
        Self { taken: AtomicU64::new(0), stride: workers as u64 + 1 }
    }

    /// The next number, from 1 on.
    pub(super) fn next(&self) -> u64 {
        // Relaxed: only uniqueness matters.
        (self.taken.fetch_add(1, Ordering::Relaxed) + 1) * self.stride
    }
}
