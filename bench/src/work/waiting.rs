//! Threads that each wait to read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many have begun to wait, and how many have been woken.
///
/// The counts order nothing: who reads them only waits for the next change. Relaxed throughout.
#[derive(Default)]
pub struct Waiting {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Waiting {
    /// A thread is about to wait.
    pub fn begins(&self) {
        // Relaxed: it orders nothing.
        self.begun.fetch_add(1, Relaxed);
    }

    /// A thread has read what it waited for.
    pub fn ends(&self) {
        // Relaxed: it orders nothing.
        self.ended.fetch_add(1, Relaxed);
    }

    /// How many have begun (the last one may not wait yet).
    pub fn begun(&self) -> u64 {
        // Relaxed: it orders nothing.
        self.begun.load(Relaxed)
    }

    /// How many have ended.
    pub fn ended(&self) -> u64 {
        // Relaxed: it orders nothing.
        self.ended.load(Relaxed)
    }
}

/// What a function that runs threads `until` something is so asks.
pub type Over<'a> = &'a (dyn Fn() -> bool + Sync);
