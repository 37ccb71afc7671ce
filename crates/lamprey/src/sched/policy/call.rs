//! Calls of a worker's policy: the built-in one directly, the program's in a section that must not switch.

use super::{Idle, NewThread, Parasites, Place, Policy, PolicySlot, Program, Ready, Unstarted, Why, Workers};
use crate::queue::steal_queue::StealQueue;
use crate::sched::guard;
use crate::sched::shared::Shared;
use crate::sched::thread::{Entry, Thread};
use crate::sched::waiter::Waiter;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ptr::NonNull;

// The calls are cold, so that the default policy is the fall-through path of the match in `PolicySlot`.
impl Program {
    fn new(policy: Box<dyn Policy>) -> Self {
        let mut this =
            Self { policy: Cell::new(Some(policy)), parasites: Parasites::Ahead, held: Cell::new(0) };
        this.parasites = this.lend(|policy| policy.parasites());
        this
    }

    #[inline]
    fn lend<R>(&self, call: impl FnOnce(&mut dyn Policy) -> R) -> R {
        const WHO: &str = "a scheduling policy";
        crate::bug::no_unwind(WHO, || {
            let mut policy =
                self.policy.take().expect("a policy must not call blocking calls, spawn or wake");
            let result = guard::no_switch(WHO, || call(&mut *policy));
            self.policy.set(Some(policy));
            result
        })
    }

    #[cold]
    #[inline(never)]
    fn ready(&self, thread: Ready, why: Why) {
        self.held.set(self.held.get() + 1);
        self.lend(|policy| policy.ready(thread, why));
    }

    #[cold]
    #[inline(never)]
    fn next(&self, mut unstarted: Unstarted<'_>) -> Option<Ready> {
        let next = self.lend(|policy| policy.next(&mut unstarted));
        self.held.set(self.held.get() + unstarted.taken - usize::from(next.is_some()));
        if next.is_none() && self.held.get() != 0 {
            self.has_lost();
        }
        next.or_else(|| unstarted.pop())
    }

    #[cold]
    #[inline(never)]
    fn place(&self, new: &NewThread<'_>, workers: &Workers<'_>) -> Place {
        self.lend(|policy| policy.place(new, workers))
    }

    #[cold]
    #[inline(never)]
    fn idle(&self) -> Idle {
        self.lend(|policy| policy.idle())
    }

    /// Ends the process: the threads would never run again, without a word.
    #[cold]
    fn has_lost(&self) -> ! {
        crate::bug::say!(
            "a scheduling policy has been given {} ready threads that it has not returned, and its `next` returned \
             None: it must return each of them, and drop none",
            self.held.get()
        );
        std::process::abort()
    }
}

impl PolicySlot {
    pub(crate) fn new(program: Option<Box<dyn Policy>>) -> Self {
        match program {
            None => Self::Hybrid(UnsafeCell::default()),
            Some(policy) => Self::Program(Program::new(policy)),
        }
    }

    /// Takes the right to run a thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn ready(&self, right: Waiter, why: Why) {
        self.take(right, why);
    }

    /// As [`ready`](Self::ready); true if the policy is the program's. (A return value and not a question of its own,
    /// because where the policy is known, so is the answer.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(&self, right: Waiter, why: Why) -> bool {
        match self {
            Self::Hybrid(policy) => {
                // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
                unsafe { &mut *policy.get() }.push(right.as_plain_thread(), why);
                false
            }
            Self::Program(program) => {
                program.ready(Ready::new(right), why);
                true
            }
        }
    }

    /// The next thread. `carry` makes one of a parasite without a stack.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next(
        &self,
        unstarted: &StealQueue<Entry>,
        carry: impl FnOnce(Waiter) -> NonNull<Thread>,
    ) -> Option<NonNull<Thread>> {
        let mut unstarted = Unstarted { queue: unstarted, taken: 0, _of_the_worker: PhantomData };
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &mut *policy.get() }.pick(&mut unstarted),
            Self::Program(program) => {
                let ready = program.next(unstarted)?;
                let right = ready.into_right();
                Some(right.as_thread().unwrap_or_else(|| carry(right)))
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
            Self::Hybrid(policy) => unsafe { &*policy.get() }.is_empty(),
            Self::Program(program) => program.held.get() == 0,
        }
    }

    /// How many threads the program's policy has.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Hybrid(_) => 0,
            Self::Program(program) => program.held.get(),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_programs(&self) -> bool {
        matches!(self, Self::Program(_))
    }

    /// True if parasites that have been woken go through the policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn queues_parasites(&self) -> bool {
        matches!(self, Self::Program(Program { parasites: Parasites::Queued, .. }))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place(&self, new: &Thread, here: usize, shared: &Shared) -> Place {
        match self {
            Self::Hybrid(_) => Place::Anywhere,
            Self::Program(program) => program.place(&NewThread(&new.label), &Workers { here, shared }),
        }
    }

    pub(crate) fn idle(&self) -> Idle {
        match self {
            Self::Hybrid(_) => Idle::LookForWork,
            Self::Program(program) => program.idle(),
        }
    }
}
