//! The part of a worker that belongs to parasites. Only the worker touches it.

use super::contexts::Contexts;
use super::ready_queue::{ReadyQueue, ReadyShared};
use crate::memory::slab::Slab;
use crate::sched::thread::Thread;
use crate::time::clock;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

/// The budget: how many polls and channel operations of parasites may go ahead of a ready host.
pub(in crate::sched) const TURN: u32 = 1024;
/// What an operation takes of that which may be a system call ([`coop_async`](crate::sched::coop_async)).
pub(in crate::sched) const OPERATION: u32 = 16;
/// Equal to no attention word, so that the next spawn takes the slow path.
pub(in crate::sched) const NEVER: u32 = 1;
/// How long one host may start parasites without a scheduling point ([`super::starts`]). Starts notice ticks
/// only, four in a time slice, so other threads wait for about half a slice.
pub(in crate::sched) const LIMIT: Duration = Duration::from_millis(2);

/// A parasite that was kept back for less than this was not worth it: some twenty times what queueing it
/// costs. (Unoptimised code is that much slower.)
const SOON: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 100_000 } else { 1_000 });

/// What a worker owns for its parasites. The fields that each switch reads come first.
#[repr(C)]
pub(crate) struct Parasites {
    /// The ready queue of parasites.
    pub(in crate::sched) ready: ReadyQueue,
    /// What is left of the budget ([`attach`](super::attach)).
    pub(in crate::sched) turn: Cell<u32>,
    /// The worker's attention word as it was seen last ([`offer`](super::offer)).
    pub(in crate::sched) seen: Cell<u32>,
    pub(in crate::sched) offers: Offers,
    /// The memory of the stackless parasites.
    pub(crate) slab: Slab,
    /// The idle stacks of the stackful parasites.
    pub(crate) contexts: Contexts,
    /// Contexts of their own, of parasites that have ended.
    pub(crate) spent: Contexts,
    pub(in crate::sched) carriers: Carriers,
    pub(in crate::sched) starts: Starts,
}

impl Parasites {
    pub(in crate::sched) fn new(ready: Arc<ReadyShared>, slab: Slab) -> Self {
        Self {
            ready: ReadyQueue::new(ready),
            turn: Cell::new(TURN),
            seen: Cell::new(NEVER),
            offers: Offers::new(),
            slab,
            contexts: Contexts::new(),
            spent: Contexts::new(),
            carriers: Carriers::new(),
            starts: Starts::new(),
        }
    }
}

/// The slab behind the lock of [`Outside`](super::outside::Outside).
pub(crate) struct OutsideSlab(pub(crate) Slab);

// SAFETY: a slab knows no kernel thread: its rule is that one thread uses it at a time, each after the other, which the
// lock sees to, and after `close` the worker, which keeps it.
unsafe impl Send for OutsideSlab {}

/// Whether the worker keeps a parasite to give away ([`super::offer`]).
#[derive(Debug)]
pub(in crate::sched) struct Offers {
    pub(in crate::sched) on: Cell<bool>,
    /// How many of the next parasites start at once, and how many did after the last one was taken back too soon.
    pub(in crate::sched) skip: Cell<u32>,
    pub(in crate::sched) back_off: Cell<u32>,
    /// When the worker was last asked, in ticks of the attention word.
    pub(in crate::sched) asked: Cell<u32>,
    /// When the last one was kept back, in ticks of the CPU's clock; 0 if it has been given.
    pub(in crate::sched) since: Cell<u64>,
    /// [`SOON`] in such ticks.
    pub(in crate::sched) soon: u64,
}

impl Offers {
    pub(in crate::sched) fn new() -> Self {
        Self {
            on: Cell::new(false),
            skip: Cell::new(0),
            back_off: Cell::new(0),
            asked: Cell::new(0),
            since: Cell::new(0),
            soon: clock::in_ticks(SOON),
        }
    }
}

/// What a worker has noted at the starts of parasites ([`super::starts`]).
#[derive(Debug)]
pub(in crate::sched) struct Starts {
    /// The host that started parasites, and the scheduling points that were left then until the root is due.
    /// `since`: when that was, in ticks of the CPU's clock.
    pub(in crate::sched) host: Cell<(*const Thread, u32)>,
    pub(in crate::sched) since: Cell<u64>,
    /// [`LIMIT`] in such ticks.
    pub(in crate::sched) limit: u64,
}

impl Starts {
    pub(in crate::sched) fn new() -> Self {
        Self { host: Cell::new((ptr::null(), 0)), since: Cell::new(0), limit: clock::in_ticks(LIMIT) }
    }

    /// A scheduling point has been reached.
    pub(in crate::sched) fn forget(&self) {
        self.host.set((ptr::null(), 0));
    }
}

/// Which parasites go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sched) enum Oldest {
    /// A turn has begun: the tasks at the front, and those that gave way.
    Tasks,
    /// The old tasks have run: the stackful parasite at the front, if there is one.
    Thread,
    /// Both have run: the latest.
    Served,
}

/// A worker's carriers ([`super::carrier`]).
pub(in crate::sched) struct Carriers {
    pub(in crate::sched) parked: Cell<*mut Thread>,
    /// Which parasites go first in this turn (`super::carrier`, invariant 2).
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
