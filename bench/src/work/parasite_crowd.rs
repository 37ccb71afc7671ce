//! The state that the threads of a crowd share, and how often the waking thread yields.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Messages between two yields of the sender. If it never yields, its time slice soon ends, and all threads
/// that it wakes must queue.
pub const BATCH: u64 = 500;

/// The state that the threads of a crowd share; each holds only a reference to it.
#[derive(Default)]
pub struct Common {
    done: AtomicU64,
    over: AtomicBool,
}

impl Common {
    /// A state that lives as long as the process.
    pub fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// Counts one more thread. All are on one kernel thread: a locked instruction is not needed, and would be
    /// measured.
    pub fn count(&self) {
        // Relaxed: one kernel thread.
        self.done.store(self.done.load(Relaxed) + 1, Relaxed);
    }

    /// The count.
    pub fn counted(&self) -> u64 {
        // Relaxed: one kernel thread.
        self.done.load(Relaxed)
    }

    /// Ends the threads that yield.
    pub fn end(&self) {
        // Relaxed: one kernel thread.
        self.over.store(true, Relaxed);
    }

    /// Whether `end` was called.
    pub fn is_over(&self) -> bool {
        // Relaxed: one kernel thread.
        self.over.load(Relaxed)
    }
}
