//! What a worker owns of parasites.

use super::contexts::Contexts;
use super::woken::{Exposed, Woken};
use crate::memory::slab::Slab;
use crate::sched::thread::Thread;
use crate::time::clock;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

/// Parasites and their channel operations that may go ahead of a ready host.
pub(in crate::sched) const TURN: u32 = 1024;
/// Equal to no attention word: makes the next spawn look.
pub(in crate::sched) const NEVER: u32 = 1;
/// The starts see four ticks in a time slice, so others wait for about half a slice.
pub(in crate::sched) const LIMIT: Duration = Duration::from_millis(2);

/// See the module's text. In this order: what each switch looks at comes first.
#[repr(C)]
pub(crate) struct Parasites {
    /// Those that can run now.
    pub(in crate::sched) woken: Woken,
    /// What they may still do ahead of the hosts ([`attach`](super::attach)).
    pub(in crate::sched) turn: Cell<u32>,
    /// What the worker has last seen of its seat's attention word ([`offer`](super::offer)).
    pub(in crate::sched) seen: Cell<u32>,
    pub(in crate::sched) offers: Offers,
    /// Where those lie that are stackless.
    pub(crate) slab: Slab,
    /// The stacks of those that are not.
    pub(crate) contexts: Contexts,
    pub(in crate::sched) carriers: Carriers,
    pub(in crate::sched) starts: Starts,
}

impl Parasites {
    pub(in crate::sched) fn new(woken: Arc<Exposed>, slab: Slab) -> Self {
        Self {
            woken: Woken::new(woken),
            turn: Cell::new(TURN),
            seen: Cell::new(NEVER),
            offers: Offers::new(),
            slab,
            contexts: Contexts::new(),
            carriers: Carriers::new(),
            starts: Starts::new(),
        }
    }
}

/// A worker's own part of offering.
#[derive(Debug)]
pub(in crate::sched) struct Offers {
    pub(in crate::sched) on: Cell<bool>,
    pub(in crate::sched) asked: Cell<u32>,
}

impl Offers {
    pub(in crate::sched) fn new() -> Self {
        Self { on: Cell::new(false), asked: Cell::new(0) }
    }
}

/// What a worker has seen at the starts of parasites. The worker's alone.
#[derive(Debug)]
pub(in crate::sched) struct Starts {
    /// The host, how many scheduling points were left then until the root is due, and when that was in ticks
    /// of the CPU's clock.
    pub(in crate::sched) host: Cell<(*const Thread, u32)>,
    pub(in crate::sched) since: Cell<u64>,
    /// [`LIMIT`] in such ticks.
    pub(in crate::sched) limit: u64,
}

impl Starts {
    pub(in crate::sched) fn new() -> Self {
        Self { host: Cell::new((ptr::null(), 0)), since: Cell::new(0), limit: clock::in_ticks(LIMIT) }
    }

    /// There has been a scheduling point.
    pub(in crate::sched) fn forget(&self) {
        self.host.set((ptr::null(), 0));
    }
}

/// Who goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sched) enum Oldest {
    /// A turn has begun: tasks that wait at the front, and those that gave way.
    Tasks,
    /// They have run: the thread at the front, if there is one.
    Thread,
    /// Both have had their turn: the latest.
    Served,
}

/// A worker's carriers. See the module's text.
pub(in crate::sched) struct Carriers {
    pub(in crate::sched) parked: Cell<*mut Thread>,
    /// Invariant 2.
    pub(in crate::sched) oldest: Cell<Oldest>,
    pub(in crate::sched) unreaped: Cell<bool>,
}

impl Carriers {
    pub(in crate::sched) fn new() -> Self {
        Self {
            parked: Cell::new(ptr::null_mut()),
            oldest: Cell::new(Oldest::Served),
            unreaped: Cell::new(false),
        }
    }
}
