//! Calls of a worker's policy: the built-in one directly, the program's in a section that must not switch.

use super::{Hybrid, Idle, NewThread, Parasites, Place, Policy, PolicySlot, Ready, Unstarted, Why, Workers};
use crate::queue::steal_queue::StealQueue;
use crate::sched::guard;
use crate::sched::shared::Shared;
use crate::sched::thread::{Entry, Thread};
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ptr::NonNull;

impl PolicySlot {
    pub(crate) fn new(program: Option<Box<dyn Policy>>) -> Self {
        let Some(policy) = program else { return Self::Hybrid(UnsafeCell::default()) };
        let slot = Cell::new(Some(policy));
        let parasites = lend(&slot, |policy| policy.parasites());
        Self::Program(slot, parasites)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn ready(&self, thread: Ready, why: Why) {
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &mut *policy.get() }.ready(thread, why),
            Self::Program(cell, _) => lend(cell, |policy| policy.ready(thread, why)),
        }
    }

    /// The next thread. `carry` makes one of a parasite without a stack.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next(
        &self,
        unstarted: &StealQueue<Entry>,
        carry: impl FnOnce(Ready) -> NonNull<Thread>,
    ) -> Option<NonNull<Thread>> {
        let mut unstarted = Unstarted(unstarted, PhantomData);
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &mut *policy.get() }.next(&mut unstarted).map(Hybrid::thread_of),
            Self::Program(cell, _) => {
                let ready = lend(cell, |policy| policy.next(&mut unstarted))?;
                Some(ready.0.as_thread().unwrap_or_else(|| carry(ready)))
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &*policy.get() }.len() == 0,
            Self::Program(cell, _) => lend(cell, |policy| policy.len() == 0),
        }
    }

    /// True if parasites that have been woken go through the policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn queues_parasites(&self) -> bool {
        matches!(self, Self::Program(_, Parasites::Queued))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place(&self, new: &Thread, here: usize, shared: &Shared) -> Place {
        match self {
            Self::Hybrid(_) => Place::Anywhere,
            Self::Program(cell, _) => {
                lend(cell, |policy| policy.place(&NewThread(&new.label), &Workers { here, shared }))
            }
        }
    }

    pub(crate) fn idle(&self) -> Idle {
        match self {
            Self::Hybrid(_) => Idle::LookForWork,
            Self::Program(cell, _) => lend(cell, |policy| policy.idle()),
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
