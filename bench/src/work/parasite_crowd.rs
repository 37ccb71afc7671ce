//! What the threads of a crowd share, and how often who wakes them yields.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Messages between two yields of the sender. One that never gives way is soon out of its turn, and all that
/// it wakes has to queue.
pub const BATCH: u64 = 500;

/// What the threads of a crowd share; each holds a reference to it, and nothing else.
#[derive(Default)]
pub struct Common {
    done: AtomicU64,
    over: AtomicBool,
}

impl Common {
    /// For as long as the process lives.
    pub fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// One more has got here. All are on one kernel thread: no locked instruction is needed, and none is
    /// measured.
    pub fn count(&self) {
        // Relaxed: one kernel thread.
        self.done.store(self.done.load(Relaxed) + 1, Relaxed);
    }

    /// How often something was counted.
    pub fn counted(&self) -> u64 {
        // Relaxed: one kernel thread.
        self.done.load(Relaxed)
    }

    /// Those that yield are to end.
    pub fn end(&self) {
        // Relaxed: one kernel thread.
        self.over.store(true, Relaxed);
    }

    /// As `end` says.
    pub fn is_over(&self) -> bool {
        // Relaxed: one kernel thread.
        self.over.load(Relaxed)
    }
}
