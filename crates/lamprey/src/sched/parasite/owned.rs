//! What a worker owns of parasites.

use super::attach::TURN;
use super::carrier::Carriers;
use super::contexts::Contexts;
use super::offer::{NEVER, Offers};
use super::starts::Starts;
use super::woken::{Exposed, Woken};
use crate::memory::slab::Slab;
use std::cell::Cell;
use std::sync::Arc;

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
