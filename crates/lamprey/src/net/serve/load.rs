//! Which worker serves the next connection: the one with the fewest.
//!
//! Invariant: a connection counts for its worker from its acceptance until its [`Placement`] is dropped.
//!
//! # Orderings
//! The counters only guide the choice, and nothing is published with them: all accesses are Relaxed.

use crate::sync_shim::{AtomicUsize, Ordering};
use std::sync::Arc;

/// How many connections each worker serves.
pub(super) struct WorkerLoad {
    connections: Box<[AtomicUsize]>,
}

/// A connection's place on a worker.
pub(super) struct Placement {
    load: Arc<WorkerLoad>,
    worker: usize,
}

impl WorkerLoad {
    pub(super) fn new(workers: usize) -> WorkerLoad {
        WorkerLoad { connections: (0..workers).map(|_| AtomicUsize::new(0)).collect() }
    }

    /// Places a connection on the worker that has the fewest.
    pub(super) fn place(self: &Arc<Self>) -> Placement {
        // Relaxed: see Orderings.
        let count = |&worker: &usize| self.connections[worker].load(Ordering::Relaxed);
        let worker = (0..self.connections.len()).min_by_key(count).unwrap_or(0);
        // Relaxed: see Orderings.
        self.connections[worker].fetch_add(1, Ordering::Relaxed);
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
        self.load.connections[self.worker].fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::WorkerLoad;
    use std::sync::Arc;

    #[test]
    fn new_ones_go_to_the_worker_with_the_fewest() {
        let load = Arc::new(WorkerLoad::new(2));
        let (first, second, third) = (load.place(), load.place(), load.place());
        assert_eq!((first.worker(), second.worker(), third.worker()), (0, 1, 0));
        drop(first);
        drop(third);
        assert_eq!(load.place().worker(), 0);
    }
}
