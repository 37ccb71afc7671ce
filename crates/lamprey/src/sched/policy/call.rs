//! Calls of a worker's policy: the built-in one directly, the program's in a section that must not switch.

use super::{
    Hybrid, Idle, NewThread, Parasites, Place, Policy, PolicySlot, Program, Ready, Unstarted, Why, Workers,
};
use crate::queue::steal_queue::StealQueue;
use crate::sched::guard;
use crate::sched::shared::Shared;
use crate::sched::thread::{Entry, Thread};
use crate::sched::waiter::Waiter;
use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;

// The calls are cold, so that the default policy is the fall-through path of each question in `PolicySlot`.
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

/// There is a policy of the program's.
const PROGRAM: u8 = 1;
/// It queues parasites.
const QUEUES: u8 = 2;
/// The worker notes what it does ([`record`](crate::sched::record)).
const RECORDED: u8 = 4;
/// It looks at each switch for the end of what it has begun to measure ([`metrics`](crate::sched::metrics)).
const WATCHED: u8 = 8;

impl PolicySlot {
    pub(crate) fn new(program: Option<Box<dyn Policy>>) -> Self {
        let program = program.map(Program::new);
        let more = match &program {
            None => 0,
            Some(Program { parasites: Parasites::Queued, .. }) => PROGRAM | QUEUES,
            Some(_) => PROGRAM,
        };
        Self { more: Cell::new(more), hybrid: UnsafeCell::default(), program }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has(&self, bits: u8) -> bool {
        self.more.get() & bits != 0
    }

    /// The program's policy, which `more` says is there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn program(&self) -> &Program {
        self.program
            .as_ref()
            .unwrap_or_else(|| crate::bug::bug!("a policy of the program's that is not there"))
    }

    /// The default policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[expect(clippy::mut_from_ref, reason = "each reference ends within the caller")]
    fn hybrid(&self) -> &mut Hybrid {
        // SAFETY: the cell is not Sync, and Hybrid calls nothing that could come back here.
        unsafe { &mut *self.hybrid.get() }
    }

    /// True where a call is one of the default policy and nothing else.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_plain(&self) -> bool {
        self.more.get() == 0
    }

    /// True while the worker notes what it does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_recorded(&self) -> bool {
        self.has(RECORDED)
    }

    pub(crate) fn set_recorded(&self, recorded: bool) {
        self.set(RECORDED, recorded);
    }

    /// True while each switch is looked at.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_recorded_or_watched(&self) -> bool {
        self.has(RECORDED | WATCHED)
    }

    pub(crate) fn set_watched(&self, watched: bool) {
        self.set(WATCHED, watched);
    }

    fn set(&self, bits: u8, are_set: bool) {
        let others = self.more.get() & !bits;
        self.more.set(others | if are_set { bits } else { 0 });
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
        let is_programs = self.has(PROGRAM);
        if is_programs {
            self.program().ready(Ready::new(right), why);
        } else {
            self.take_plainly(right.as_plain_thread(), why);
        }
        is_programs
    }

    /// As [`take`](Self::take), where the policy is the default one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_plainly(&self, thread: NonNull<Thread>, why: Why) {
        self.hybrid().push(thread, why);
    }

    /// The next thread. `carry` makes one of a parasite without a stack.
    pub(crate) fn next(
        &self,
        unstarted: &StealQueue<Entry>,
        carry: impl FnOnce(Waiter) -> NonNull<Thread>,
    ) -> Option<NonNull<Thread>> {
        if !self.has(PROGRAM) {
            return self.next_plainly(unstarted);
        }
        let right = self.program().next(Unstarted::of(unstarted))?.into_right();
        Some(right.as_thread().unwrap_or_else(|| carry(right)))
    }

    /// As [`next`](Self::next), where the policy is the default one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next_plainly(&self, unstarted: &StealQueue<Entry>) -> Option<NonNull<Thread>> {
        self.hybrid().pick(&mut Unstarted::of(unstarted))
    }

    /// The root runs in place of the thread that the running one yields to: a thread that has not started is next, rather
    /// than the one that yields.
    pub(crate) fn favour_unstarted(&self) {
        if !self.has(PROGRAM) {
            self.hybrid().favour_unstarted();
        }
    }

    /// How many threads are ready.
    pub(crate) fn len(&self) -> usize {
        if self.has(PROGRAM) { self.program().held.get() } else { self.hybrid().len() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        if self.has(PROGRAM) { self.program().held.get() == 0 } else { self.hybrid().is_empty() }
    }

    /// How many threads are ready, as a signal handler on the worker's kernel thread sees it at any instruction: a change may
    /// be half done, and the number is then off by one.
    pub(crate) fn glance(&self) -> usize {
        if self.has(PROGRAM) {
            return self.program().held.get();
        }
        // SAFETY: the cell's value lives as long as `self`, and this is its kernel thread.
        unsafe { Hybrid::glance(self.hybrid.get()) }
    }

    /// How many threads the program's policy has.
    pub(crate) fn held(&self) -> usize {
        self.program.as_ref().map_or(0, |program| program.held.get())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_programs(&self) -> bool {
        self.has(PROGRAM)
    }

    /// True if parasites that have been woken go through the policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn queues_parasites(&self) -> bool {
        self.has(QUEUES)
    }

    /// True if more has to be done with a parasite that is ready than to queue it ahead of the hosts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn sees_parasites(&self) -> bool {
        self.has(QUEUES | RECORDED)
    }

    pub(crate) fn place(&self, new: &Thread, here: usize, shared: &Shared) -> Place {
        match &self.program {
            None => Place::Anywhere,
            Some(program) => program.place(&NewThread(&new.label), &Workers { here, shared }),
        }
    }

    pub(crate) fn idle(&self) -> Idle {
        self.program.as_ref().map_or(Idle::LookForWork, Program::idle)
    }
}
