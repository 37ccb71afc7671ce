//! On which worker a connection is served: the one that serves the fewest of this server.
//!
//! Invariant: a connection counts for its worker from its acceptance until its [`Placement`] is dropped. A parasite may move to another
//! worker later; it then counts where it began.
//!
//! # Orderings
//! The counters only guide the choice, and nothing is published with them: all accesses are Relaxed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many connections each worker serves.
#[derive(Debug)]
pub(super) struct Load(Box<[AtomicUsize]>);

/// A connection's place on a worker.
pub(super) struct Placement {
    load: Arc<Load>,
    worker: usize,
}

impl Load {
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| AtomicUsize::new(0)).collect())
    }

    /// Places a connection on the worker that has the fewest.
    pub(super) fn place(self: &Arc<Self>) -> Placement {
        // Relaxed: see Orderings.
        let count = |&worker: &usize| self.0[worker].load(Ordering::Relaxed);
        let worker = (0..self.0.len()).min_by_key(count).unwrap_or(0);
        // Relaxed: see Orderings.
        self.0[worker].fetch_add(1, Ordering::Relaxed);
        Placement { load: self.clone(), worker }
    }
}

impl Placement {
    /// The worker's number.
    pub(super) fn worker(&self) -> usize {
        self.worker
    }
}

impl Drop for Placement {
    fn drop(&mut self) {
        // Relaxed: see Orderings.
        self.load.0[self.worker].fetch_sub(1, Ordering::Relaxed);
    }
}
