//! Which thread runs a ready parasite ([`super::ready_queue`] is the queue): it runs ahead of every host, on
//! the stack of the thread that unblocked it where possible, within a budget. This is the attach operation of
//! parasitic threads: no task queue is needed for a parasite that a host unblocks.
//!
//! # Which thread runs it
//! 1. The thread that unblocks it, inside the unblocking call: only where the program asks for that
//!    ([`Form`]), because the caller may hold a lock. Nesting is bounded by [`NESTING`] (of the depths that a
//!    prototype tried, 1 was best), and by the stack that is left.
//! 2. The same thread at its next scheduling point: a host that is about to block first runs what it has
//!    unblocked ([`Worker::attach_ready`], called by `sched::waiter` before anything is queued: nothing is
//!    ever run between "queued" and "switched away").
//! 3. A [carrier](super::carrier), a host of the worker's own, for a parasite that is unblocked where no host
//!    runs (by an event source, by another kernel thread), or where too little stack is left.
//!
//! # Fairness
//! `turn` is the budget: how many more parasites and channel operations of parasites may go ahead of the
//! hosts. At zero, ready parasites go to the back of the queue, and a host runs. A tick of the worker's
//! attention word ([`super::offer`]) also ends a turn. After each turn the oldest parasites go first
//! (`super::carrier`), so that two parasites that wake each other for ever do not starve the others.
//!
//! # Checked by
//! `tests/parasite/attach.rs` (nesting, a chain of a million, fairness), `tests/parasite/order.rs` (order),
//! `tests/parasite/life.rs`.

use super::finish::{finish, finish_cancelled};
use super::life::Turn;
use super::owned::{OPERATION, TURN};
use super::task::{Form, HEAVY, HOSTED, INLINE, Task};
use crate::sched::here::here;
use crate::sched::policy::Why;
use crate::sched::thread::Thread;
use crate::sched::waiter::Waiter;
use crate::sched::who::Who;
use crate::sched::worker::Worker;
use std::ptr::NonNull;
use swapstack::Stack;
use swapstack::overflow::bounds_around;

/// Most inline attaches inside one another on one stack.
const NESTING: u32 = 1;

/// How many bytes of a stack are kept free for the parasite that is polled; half of a stack that is smaller
/// than twice that. Code without optimisation needs several times as much, as for
/// [`stack_size::DEFAULT`](crate::thread::stack_size): a poll of hyper's connection alone takes 45 KiB then.
const RESERVE: usize = if cfg!(debug_assertions) { 96 << 10 } else { 24 << 10 };

/// The lowest address on a stack at which a poll may begin: the bytes below are kept free for what the
/// parasite needs.
#[cfg_attr(not(debug_assertions), inline(always))]
fn low_water(limit: usize, top: usize) -> usize {
    limit + ((top - limit) / 2).min(RESERVE)
}

/// True if the stack that holds `address` has room for a parasite; it may be a generator's. A stack that is not
/// [`swapstack`]'s is the kernel's, and has room.
#[cold]
fn has_room_around(address: usize) -> bool {
    bounds_around(address).is_none_or(|(limit, top)| address >= low_water(limit, top))
}

impl Thread {
    /// True if there is enough stack left to run a parasite on it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn has_room(&self) -> bool {
        // Both bounds are compared: the code may run on a generator's stack, whose free bytes are not known
        // here.
        self.is_within(here()) || self.room.get() == 0 && self.find_room() && self.is_within(here())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_within(&self, address: usize) -> bool {
        address.wrapping_sub(self.low_water.get()) < self.room.get() as usize
    }

    /// Computes the bounds; false if the thread has no stack of Lamprey's.
    #[cold]
    fn find_room(&self) -> bool {
        // Taken and put back: the descriptor owns its stack.
        let stack = self.stack.take();
        if let Some(stack) = &stack {
            let (limit, top) = (stack.limit().addr().get(), stack.top().addr().get());
            let low_water = low_water(limit, top);
            self.low_water.set(low_water);
            self.room.set((top - low_water) as u32); // at most 1 GiB
        }
        self.stack.set(stack);
        self.room.get() != 0
    }
}

impl Worker {
    /// Runs or queues a task whose right to run the caller holds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn bring(&self, task: NonNull<Task>, form: Form) {
        // SAFETY: the right to run, which the caller holds, keeps the task alive.
        let flags = unsafe { task.as_ref() }.life.flags.get();
        if flags & (HOSTED | HEAVY) != 0 {
            return self.bring_to_host(task);
        }
        if form != Form::Soon && (form != Form::AsTask || flags & INLINE != 0) && self.may_attach(form) {
            let me = self.running_ref();
            self.remote.counters.attached_inline.add(1);
            me.nesting.set(me.nesting.get() + 1);
            self.run_task(task);
            return me.nesting.set(me.nesting.get() - 1);
        }
        self.push_ready(Waiter::task(task));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn may_attach(&self, form: Form) -> bool {
        let me = self.running_ref();
        me.has_room()
            && (form == Form::Now || (me.nesting.get() < NESTING && self.has_turn()))
            && !std::thread::panicking()
            && !me.is_barred()
    }

    #[cold]
    fn bring_to_host(&self, task: NonNull<Task>) {
        // SAFETY: the right to run, which the caller holds, keeps the task alive.
        let entry = unsafe { task.as_ref() };
        if entry.life.flags.get() & HOSTED != 0 {
            // SAFETY: the holder of the right to run must wake the host, once; the host is blocked until
            // then.
            return unsafe { entry.host().wake() };
        }
        if entry.life.is_shared() {
            // SAFETY: the right to run goes to the host that this makes.
            unsafe { (entry.body.inflate)(task, NonNull::from(self).cast()) };
        } else {
            // It cannot leave the worker, so a host of its own would gain nothing: it is queued behind the
            // hosts.
            self.give_way(task);
        }
    }

    /// Takes a parasite whose right to run the caller holds, and which another kernel thread has sent.
    pub(in crate::sched) fn make_attachable(&self, parasite: Waiter) {
        match parasite.who() {
            Who::Task(task) => self.bring(task, Form::Soon),
            _ => self.push_ready(parasite),
        }
    }

    /// True if destructors of the program may run on the running stack: not on the root's, and not on one that is nearly
    /// full, because each of a chain of parasites may own the handle of the next.
    pub(in crate::sched) fn may_run_destructors(&self) -> bool {
        !self.is_on_root() && (self.running_ref().has_room() || has_room_around(here()))
    }

    /// As [`make_attachable`](Self::make_attachable), for a cancelled task whose right to run the caller got from
    /// [`Life::cancel`](super::life::Life::cancel), where [its destructors may not run](Self::may_run_destructors).
    pub(in crate::sched) fn make_cancelled(&self, task: NonNull<Task>) {
        self.make_attachable(Waiter::task(task));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_ready(&self, parasite: Waiter) {
        if !(self.policy.sees_parasites() && self.queue_noted(parasite)) {
            self.push_ahead(parasite);
        }
    }

    /// As [`push_ready`](Self::push_ready), where the policy does not queue parasites.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn push_ahead(&self, parasite: Waiter) {
        if !self.has_turn() || !self.parasites.ready.push(parasite) {
            self.spill(parasite);
        }
    }

    /// Queues a ready parasite behind the hosts that are ready.
    #[cold]
    fn spill(&self, parasite: Waiter) {
        match parasite.who() {
            Who::Task(task) => self.give_way(task),
            Who::Thread(thread) => self.policy.ready(Waiter::thread(thread), Why::Yielded),
            _ => crate::bug::bug!("neither thread nor task was queued as a parasite"),
        }
    }

    /// Counts a parasite of so many bytes that has come from outside.
    pub(in crate::sched) fn count_sent(&self, size: u64) {
        self.remote.counters.stackless.add(1);
        self.count_reified(size);
    }

    /// Counts a parasite of so many bytes that is not over at its start.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count_reified(&self, size: u64) {
        let counters = &self.remote.counters;
        counters.reified.add(1);
        counters.reified_bytes.add(size);
        counters.largest.raise_to(size);
    }

    /// Puts a task whose right to run the caller holds at the back of the ready queue.
    pub(crate) fn give_way(&self, task: NonNull<Task>) {
        self.remote.counters.spilled.add(1);
        if self.policy.queues_parasites() {
            return self.policy.ready(Waiter::task(task), Why::Yielded);
        }
        self.parasites.ready.give_way(task);
    }

    /// Takes one unit of the budget, for a poll or a channel operation of a parasite; false if the parasite
    /// should give way first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn spend(&self) -> bool {
        let turn = self.parasites.turn.get();
        if turn == 0 && !self.next_turn() {
            return false;
        }
        self.parasites.turn.set(self.parasites.turn.get() - 1);
        true
    }

    /// Takes so many operations of futures, each as long as a system call, from the budget: parasites must not keep hosts and timers
    /// waiting for as many of these as there may be polls.
    pub(in crate::sched) fn charge(&self, operations: u32) {
        let turn = self.parasites.turn.get();
        self.parasites.turn.set(turn.saturating_sub(operations.saturating_mul(OPERATION)));
    }

    /// Runs `poll`, of a parasite that does not give way in it: it has as much budget as it needs, and spends what there was.
    pub(crate) fn unhurried<R>(&self, poll: impl FnOnce() -> R) -> R {
        let turn = self.parasites.turn.replace(u32::MAX);
        let result = poll();
        let spent = u32::MAX - self.parasites.turn.get();
        self.parasites.turn.set(turn.saturating_sub(spent));
        result
    }

    /// True while the budget lets parasites go ahead of the hosts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn has_turn(&self) -> bool {
        self.parasites.turn.get() != 0 || self.next_turn()
    }

    /// The budget is used up; refills it if neither a host nor the root is ready. False if one is.
    #[cold]
    #[inline(never)]
    fn next_turn(&self) -> bool {
        if !self.policy.is_empty() || !self.remote.unstarted.is_empty() || self.root_waits() {
            return false;
        }
        self.begin_turn();
        true
    }

    /// A host that runs a task as its own (a hosted task) yields to the other threads. True if the host has
    /// been cancelled.
    pub(crate) fn take_turn(&self) -> bool {
        let cancelled = self.yield_now();
        self.parasites.turn.set(TURN);
        cancelled
    }

    /// A scheduling point: runs the parasites that the calling host has unblocked (2 in this file's list).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn attach_ready(&self) {
        if self.parasites.ready.pending.get() != 0 {
            self.attach_some();
        }
    }

    #[cold]
    #[inline(never)]
    fn attach_some(&self) {
        let me = self.running_ref();
        if me.polled().is_some() || !me.has_room() || me.eager.get() != 0 || std::thread::panicking() {
            return;
        }
        let ticks = self.remote.ticks();
        while ticks == self.remote.ticks()
            && self.has_turn()
            && let Some(task) = self.parasites.ready.pop_task()
        {
            self.run_task(task);
        }
    }

    /// Runs a task whose right the caller holds, on the stack of the running host, until it is over or waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run_task(&self, task: NonNull<Task>) {
        self.spend();
        self.remote.counters.attached.add(1);
        // SAFETY: the caller holds the right to run, which keeps the task alive; `finish` and `end_turn` are
        // the last uses.
        unsafe {
            let entry = task.as_ref();
            if entry.life.begin() == Turn::Drop || self.stopping.get() {
                return finish_cancelled(task);
            }
            let recorded = self.records();
            if recorded {
                self.note_attach(task);
            }
            let (me, start) = (self.running_ref(), self.remote.ticks());
            let before = me.act_for(task.as_ptr());
            let is_over = (entry.body.poll)(task);
            // Before the right is given up: after that the task may be freed while a waker or a policy asks
            // which parasite runs here.
            me.act_for(before);
            if recorded {
                self.note_detach(task, is_over);
            }
            if is_over {
                return finish(task);
            }
            if self.remote.ticks() != start {
                self.check_time_slice(task, start);
            }
            self.end_turn(task);
        }
    }

    /// A poll returned pending: gives the right up, or queues the task again if it was woken in the meantime.
    ///
    /// # Safety
    /// The caller holds the right to run `task`, and gives it up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn end_turn(&self, task: NonNull<Task>) {
        // SAFETY: the right to run keeps the task alive; it is not touched after `Idle`.
        match unsafe { task.as_ref() }.life.end() {
            Turn::Again => self.again(task),
            // SAFETY: `Turn::Drop` leaves the right with the caller.
            Turn::Drop => unsafe { finish_cancelled(task) },
            Turn::Idle | Turn::Run => {}
        }
    }

    #[cold]
    fn again(&self, task: NonNull<Task>) {
        // SAFETY: the right to run, which the caller holds, keeps the task alive.
        if unsafe { task.as_ref() }.life.flags.get() & HEAVY != 0 {
            self.bring_to_host(task);
        } else {
            self.give_way(task);
        }
    }
}
