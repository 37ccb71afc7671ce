//! Calls of a worker's policy: the built-in one directly, the program's in a section that must not switch.

use super::{Policy, PolicySlot, Ready, Unstarted, Why};
use crate::queue::steal_queue::StealQueue;
use crate::sched::guard;
use crate::sched::thread::Entry;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;

impl PolicySlot {
    pub(crate) fn new(program: Option<Box<dyn Policy>>) -> Self {
        match program {
            None => Self::Hybrid(UnsafeCell::default()),
            Some(policy) => Self::Program(Cell::new(Some(policy))),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn ready(&self, thread: Ready, why: Why) {
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &mut *policy.get() }.ready(thread, why),
            Self::Program(cell) => lend(cell, |policy| policy.ready(thread, why)),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next(&self, unstarted: &StealQueue<Entry>) -> Option<Ready> {
        let mut unstarted = Unstarted(unstarted, PhantomData);
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &mut *policy.get() }.next(&mut unstarted),
            Self::Program(cell) => lend(cell, |policy| policy.next(&mut unstarted)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &*policy.get() }.is_empty(),
            Self::Program(cell) => lend(cell, |policy| policy.is_empty()),
        }
    }
}

// Cold, so that the default policy is the fall-through path of the match.
#[cold]
#[inline(never)]
fn lend<R>(cell: &Cell<Option<Box<dyn Policy>>>, call: impl FnOnce(&mut dyn Policy) -> R) -> R {
    const WHO: &str = "a scheduling policy";
    crate::bug::no_unwind(WHO, || {
        let mut policy = cell.take().expect("a policy must not call blocking calls, spawn or wake");
        let result = guard::no_switch(WHO, || call(&mut *policy));
        cell.set(Some(policy));
        result
    })
}
