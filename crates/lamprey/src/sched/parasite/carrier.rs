//! Carriers: hosts of the worker's own that run parasites which no other thread can run ([`super::attach`],
//! 3). A carrier is what an executor's loop is elsewhere.
//!
//! One is enough, as long as no parasite blocks it by calling blocking code in a poll; then another is made.
//! An idle one is parked.
//!
//! # Invariants
//! 1. `parked` is null or a parked carrier (Committed), in no queue: the code that takes it out runs it.
//! 2. Each turn of parasites begins with those that have waited longest ([`Oldest`]), so that two parasites
//!    that wake each other for ever do not starve the others: neither those that were woken before them, nor
//!    those that gave way.
//! 3. If memory is exhausted and there is no stack for a carrier, the root runs parasites itself, as a plain
//!    kernel thread.
//! 4. When the runtime ends, a carrier reaps: it cancels all tasks of the worker's slabs, on a stack where
//!    their destructors may block.

use super::owned::{Oldest, TURN};
use super::ready_queue::ReadyQueue;
use super::task::Task;
use crate::sched::drops::{end_locals, run_quietly};
use crate::sched::policy::Why;
use crate::sched::reason::Wait;
use crate::sched::thread::{Abandoned, Body, Fate, Label, Thread, ThreadState};
use crate::sched::waiter::Waiter;
use crate::sched::worker::Worker;
use std::ptr::{self, NonNull};

/// How many of the oldest parasites of each kind go first.
const OLDEST: usize = 64;

impl Worker {
    /// The runtime ends: the next carrier cancels all tasks of the worker.
    pub(in crate::sched) fn reap_soon(&self) {
        self.parasites.carriers.unreaped.set(true);
        self.parasites.ready.count(1);
    }

    /// Refills the parasites' budget; the oldest go first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_turn(&self) {
        self.parasites.turn.set(TURN);
        self.parasites.carriers.oldest.set(Oldest::Tasks);
    }

    /// Picks a ready parasite, or a host if the parasites' budget is used up. Called when parasites are
    /// ready.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn pick_parasite(&self) -> Option<NonNull<Thread>> {
        self.parasites.ready.settle();
        if self.parasites.ready.pending.get() == 0 {
            return self.next_by_policy();
        }
        if self.parasites.turn.get() == 0 {
            self.begin_turn();
            if let Some(host) = self.next_by_policy() {
                return Some(host);
            }
        }
        let parasite = match self.parasites.carriers.oldest.get() {
            Oldest::Tasks if self.parasites.ready.has_old_task() => None,
            Oldest::Served => self.parasites.ready.pop_thread(false),
            Oldest::Tasks | Oldest::Thread => {
                self.parasites.carriers.oldest.set(Oldest::Served);
                self.parasites.ready.pop_thread(true).or_else(|| self.parasites.ready.pop_thread(false))
            }
        };
        if parasite.is_some() {
            self.spend();
        }
        let next = parasite.or_else(|| self.take_parked()).unwrap_or_else(|| new_carrier(self));
        if self.sees_switches() {
            self.note_switch(self.running_ref(), Some(next));
        }
        Some(next)
    }

    /// A parasite without a stack that the policy has picked: queues it again, where only a carrier takes from, and
    /// returns the carrier.
    #[cold]
    pub(in crate::sched) fn carry_picked(&self, parasite: Waiter) -> NonNull<Thread> {
        if !self.parasites.ready.push(parasite) {
            crate::bug::bug!("a policy has picked more parasites than one at a time");
        }
        self.take_parked().unwrap_or_else(|| new_carrier(self))
    }

    /// True for the carrier that waits until there is something to do.
    pub(in crate::sched) fn is_parked_carrier(&self, thread: &Thread) -> bool {
        ptr::eq(self.parasites.carriers.parked.get(), thread)
    }

    /// Takes out the parked carrier, which the caller must run.
    fn take_parked(&self) -> Option<NonNull<Thread>> {
        let parked = NonNull::new(self.parasites.carriers.parked.replace(ptr::null_mut()))?;
        // SAFETY: a parked carrier is alive: it frees itself only when it ends.
        unsafe { parked.as_ref() }.state.set(ThreadState::Runnable);
        Some(parked)
    }

    /// The loop of a carrier.
    fn carry(&self) {
        let thread = self.running();
        let me = self.running_ref();
        loop {
            self.carry_turn();
            if self.stopping.get() {
                if self.parasites.ready.pending.get() == 0 {
                    return;
                }
                // Not parked: it is queued below, and goes on with what is left.
            } else if !self.parasites.carriers.parked.get().is_null() {
                return;
            } else {
                me.state.set(ThreadState::Committed);
                me.reason.set(Wait::Turn);
                self.parasites.carriers.parked.set(thread.as_ptr());
            }
            let next = self.pick();
            if next == thread {
                continue;
            }
            if self.stopping.get() && me.state.get() == ThreadState::Runnable {
                self.policy.ready(Waiter::thread(thread), Why::Yielded);
            }
            self.switch_to(me, next);
        }
    }

    /// Runs ready tasks, then those that gave way, until the budget is used up or a tick passes.
    fn carry_turn(&self) {
        self.reap_if_due();
        let ticks = self.remote.ticks();
        if self.parasites.carriers.oldest.get() == Oldest::Tasks {
            self.parasites.carriers.oldest.set(Oldest::Thread);
            self.carry_oldest(ReadyQueue::pop_oldest);
            self.carry_oldest(ReadyQueue::pop_given_way);
        }
        let mut rounds = TURN / 4;
        while self.remote.ticks() == ticks && self.has_turn() {
            if let Some(task) = self.parasites.ready.pop_task() {
                self.run_task(task);
            } else if !self.parasites.ready.has_no_latest() {
                return; // a stackful one is next
            } else if rounds != 0
                && let Some(task) = self.parasites.ready.pop_given_way()
            {
                rounds -= 1;
                self.run_task(task);
            } else {
                break;
            }
        }
        self.parasites.turn.set(if self.parasites.ready.pending.get() == 0 { TURN } else { 0 });
        if self.root_waits() {
            self.budget.set(1); // timers and events come first, not only after as many turns as there were short ones before
        }
    }

    /// There is no stack for a carrier (invariant 3). Called on the root, while the worker is not installed.
    #[cold]
    pub(in crate::sched) fn carry_without_stack(&self) {
        self.reap_if_due();
        for _ in 0..TURN {
            let Some(task) = self.parasites.ready.pop_task().or_else(|| self.parasites.ready.pop_given_way())
            else {
                return;
            };
            self.run_task(task);
        }
    }

    /// Runs some of the oldest: one at least, so that each kind gets its turn.
    fn carry_oldest(&self, pop: fn(&ReadyQueue) -> Option<NonNull<Task>>) {
        for number in 0..OLDEST {
            if number != 0 && !self.has_turn() {
                break;
            }
            let Some(task) = pop(&self.parasites.ready) else { break };
            self.run_task(task);
        }
    }

    /// If the runtime ends: cancels all tasks of this worker's slabs, once.
    fn reap_if_due(&self) {
        if !self.parasites.carriers.unreaped.replace(false) {
            return;
        }
        // Before the first destructor, which may wait: other carriers would look for this entry all the time. The worker does
        // not end meanwhile, because the reaping carrier is a host of it.
        self.parasites.ready.count(-1);
        // SAFETY: a block with its mark holds a task. One that another kernel thread has just given back
        // looks live too, but its state is DONE, and `cancel` touches nothing then; otherwise `cancel` takes
        // the right to run, or leaves the task to the holder of that right. The task is not used after the
        // call. The worker is its home, so nothing is posted, and no reference is needed.
        let reap = |block: NonNull<u8>| unsafe { Task::cancel_on(block.cast(), Some(self)) };
        // Before the first destructor, which may start others from outside.
        let outside = self.remote.outside.close().map(|slab| self.outside.get_or_init(|| slab));
        // One unwind for all: millions of them would take seconds.
        run_quietly(|| {
            self.parasites.slab.each_live(reap);
            outside.into_iter().for_each(|slab| slab.0.each_live(reap));
        });
        // A parked carrier must end too; it may be another one than the carrier that reaps.
        if let Some(parked) = self.take_parked() {
            self.policy.ready(Waiter::thread(parked), Why::Woken);
        }
    }
}

/// True if `thread` is a carrier.
pub(in crate::sched) fn is_carrier(thread: &Thread) -> bool {
    ptr::eq(thread.body, &CARRIER)
}

#[track_caller]
fn new_carrier(worker: &Worker) -> NonNull<Thread> {
    let label = Label::internal(worker.new_id(), worker.shared.stack_size);
    NonNull::from(Box::leak(Box::new(Thread::host(&CARRIER, label))))
}

static CARRIER: Body = Body {
    run: carry,
    abandon: carry_or_not,
    publish: |_| Fate::Unwanted,
    dispose: drop_locals,
    free,
    scope: None,
};

/// [`Body::run`].
///
/// # Safety
/// The scheduler calls this on a carrier's own stack.
unsafe fn carry(_: NonNull<Thread>) {
    Worker::current().unwrap_or_else(|| crate::bug::bug!("a carrier without a worker")).carry();
}

/// [`Body::abandon`]: a runtime that ends still needs carriers, for the destructors of its tasks.
///
/// # Safety
/// Called on the carrier's own stack, unless `why` is that there is none.
unsafe fn carry_or_not(thread: NonNull<Thread>, why: Abandoned) {
    if matches!(why, Abandoned::Shutdown) {
        // SAFETY: on the carrier's own stack (contract).
        unsafe { carry(thread) };
    }
}

/// [`Body::dispose`]: wakers that are called when parasites end may have made host-local values.
///
/// # Safety
/// After `publish`, once.
unsafe fn drop_locals(thread: NonNull<Thread>) {
    // SAFETY: alive until `free`.
    end_locals(unsafe { thread.as_ref() });
}

/// [`Body::free`].
///
/// # Safety
/// The carrier has ended.
unsafe fn free(thread: NonNull<Thread>) {
    // SAFETY: leaked by `new_carrier`, and freed here only.
    drop(unsafe { Box::from_raw(thread.as_ptr()) });
}
