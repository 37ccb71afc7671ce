//! What a worker keeps of its watch over the others ([`watch`](crate::sched::watch)).

use std::cell::{Cell, UnsafeCell};
use std::time::Instant;

/// What the worker on watch has seen of another.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sched) struct Sight {
    pub(in crate::sched) rounds: u64,
    pub(in crate::sched) attached: u64,
    /// Nothing could be taken when there were so many woken.
    pub(in crate::sched) barren: usize,
    /// Its inbox is full of what must wait.
    pub(in crate::sched) clogged: bool,
}

/// What a worker remembers from one look to the next.
#[derive(Debug)]
pub(in crate::sched) struct Sights {
    pub(in crate::sched) of: Vec<Sight>,
    pub(in crate::sched) looked: Option<Instant>,
}

/// A worker's own part.
#[derive(Debug)]
pub(in crate::sched) struct Watching {
    /// It has an eye on the others while it sleeps.
    pub(in crate::sched) on_watch: Cell<bool>,
    /// Somebody has put it there while it slept, and there may be nothing else to do.
    pub(in crate::sched) appointed: Cell<bool>,
    pub(in crate::sched) sights: UnsafeCell<Sights>,
}

impl Watching {
    pub(in crate::sched) fn new(workers: usize) -> Self {
        let sights = Sights { of: vec![Sight::default(); workers], looked: None };
        Self { on_watch: Cell::new(false), appointed: Cell::new(false), sights: UnsafeCell::new(sights) }
    }
}
