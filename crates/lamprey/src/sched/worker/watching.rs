//! What a worker keeps for its watch over the others, as Go's sysmon does ([`watch`](crate::sched::watch)).

use std::cell::{Cell, UnsafeCell};
use std::time::Instant;

/// What the worker on watch last saw of another worker.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sched) struct PeerView {
    pub(in crate::sched) rounds: u64,
    pub(in crate::sched) attached: u64,
    /// The number of ready parasites when none of them could be taken.
    pub(in crate::sched) barren: usize,
    /// How many looks have gone by since.
    pub(in crate::sched) spared: u32,
    /// Its inbox holds many entries that only that worker can handle.
    pub(in crate::sched) clogged: bool,
}

/// What a worker remembers from one look to the next.
#[derive(Debug)]
pub(in crate::sched) struct PeerViews {
    pub(in crate::sched) of: Vec<PeerView>,
    pub(in crate::sched) looked: Option<Instant>,
}

/// A worker's own part.
#[derive(Debug)]
pub(in crate::sched) struct Watching {
    /// It is on watch: it looks at the other workers while it sleeps.
    pub(in crate::sched) on_watch: Cell<bool>,
    /// Another worker put it on watch while it slept; it may have nothing else to do.
    pub(in crate::sched) appointed: Cell<bool>,
    pub(in crate::sched) sights: UnsafeCell<PeerViews>,
}

impl Watching {
    pub(in crate::sched) fn new(workers: usize) -> Self {
        let sights = PeerViews { of: vec![PeerView::default(); workers], looked: None };
        Self { on_watch: Cell::new(false), appointed: Cell::new(false), sights: UnsafeCell::new(sights) }
    }
}
