//! The hot path: blocking, waking, yielding, starting and ending hosts, by direct switches from one host to
//! the next.
//!
//! # Invariants
//! 1. There is no scheduler context in between (unlike Go's g0): the thread that blocks picks the next one
//!    and switches to it. The worker's root is an ordinary target, picked when nothing is ready or when it is
//!    due.
//! 2. `Worker::running` names the thread whose stack the kernel thread is on; it is set just before each
//!    switch.
//! 3. A stack goes back to the pool only by the code that runs on it, right before that code jumps away;
//!    nothing takes a stack from the pool in between. A stack too large for the pool is parked in
//!    `Stacks::parting` instead.
//! 4. No `&mut` into a worker's cell lives across a switch.
//!
//! Everything up to the switch is `#[cfg_attr(not(debug_assertions), inline(always))]`: a `ret` that is
//! mispredicted because of a switch costs more than all the rest (measured: a switch 2 ns, with such a `ret`
//! 5.5).

use super::guard;
use super::parasite::task::Form;
use super::policy::{Place, Why};
use super::thread::Woke;
use super::thread::{Abandoned, Entry, Fate, Thread, ThreadState};
use super::waiter::Waiter;
use super::worker::Worker;
use crate::sync_shim::{Ordering, relax};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use swapstack::{PooledStack, Stack, StackPointer};

/// Larger stacks have a mapping each (`swapstack::StackPool`), which is unmapped when they are given back.
const LARGEST_POOLED: u32 = 256 << 10;

impl Worker {
    /// Yields: the other ready threads run first (Go's `Gosched`). True if the host has been cancelled.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn yield_now(&self) -> bool {
        let thread = self.running();
        // SAFETY: the running thread, which is the caller.
        let me = unsafe { thread.as_ref() };
        if me.eager.get() != 0 {
            self.must_be_free(me);
            return true;
        }
        let is_lowest = me.below.get().is_null();
        if is_lowest && self.policy.is_programs() {
            self.yield_to_policy(me);
            return false;
        }
        let next = if is_lowest { self.pick_other() } else { Some(self.descend(me)) };
        if let Some(next) = next {
            self.policy.ready(Waiter::thread(thread), Why::Yielded);
            self.switch_to(me, next);
        }
        false
    }

    /// The program's policy gets the thread before it picks the next one, which may be the same: so it always
    /// decides among all. (In the default policy another ready thread is ahead of it anyway.)
    #[cold]
    fn yield_to_policy(&self, me: &Thread) {
        let thread = NonNull::from(me);
        loop {
            self.policy.ready(Waiter::thread(thread), Why::Yielded);
            let held = self.policy.held();
            if let Some(next) = self.pick_other().filter(|next| *next != thread) {
                return self.switch_to(me, next);
            }
            // It is to go on; unless the policy has taken threads in that have not started, and whose turn in a
            // queue would have been before that of a thread that yields now: then it is asked again.
            if self.policy.held() < held {
                return;
            }
        }
    }

    /// Wakes a stackful parasite: it goes ahead of the hosts, unless it has become one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn wake_parasite(&self, entry: &Thread, form: Form) {
        if entry.inflated.get() {
            self.make_ready(NonNull::from(entry), Woke::Woken);
            return;
        }
        entry.woke.set(Woke::Woken);
        entry.state.set(ThreadState::Runnable);
        self.remote.counters.attached.add(1);
        let inline = form != Form::Soon && (form != Form::AsTask || entry.attach_inline.get());
        if inline && self.may_attach(form) && self.running_ref().below.get().is_null() {
            self.remote.counters.attached_inline.add(1);
            if self.sees_switches() {
                self.note_switch(self.running_ref(), Some(NonNull::from(entry)));
            }
            return self.attach_thread(entry);
        }
        let ready = Waiter::thread(NonNull::from(entry));
        if self.policy.sees_parasites() && self.queue_noted(ready) {
            return;
        }
        // It will run in the place of the parasite that wakes it, before any host, so the budget does not matter.
        if self.running_ref().below.get().is_null() || !self.parasites.ready.push(ready) {
            self.push_ahead(ready);
        }
    }

    /// Runs a ready parasite now, on top of the running thread, which continues when the parasite blocks or
    /// ends.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn attach_thread(&self, parasite: &Thread) {
        let me = self.running_ref();
        debug_assert!(!me.is_open(), "a parasite was attached within a wait");
        parasite.attached_at.set(self.remote.ticks());
        parasite.ready_before.set(self.parasites.ready.pending.get() as u32);
        parasite.below.set(me);
        me.in_a_row.set(0);
        self.switch_to(me, NonNull::from(parasite));
    }

    /// Puts a host that has been woken or interrupted into the run queue; true if that is of the program's policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn enqueue_woken(&self, thread: NonNull<Thread>) -> bool {
        if !self.policy.is_plain() {
            return self.enqueue_noted(thread);
        }
        self.policy.take_plainly(thread, Why::Woken);
        false
    }

    /// Yields to the root; the running host `me` goes to the run queue.
    pub(super) fn give_way_to_root(&self, me: &Thread) {
        self.placing.gave_way.set(me);
        self.policy.favour_unstarted();
        self.policy.ready(Waiter::thread(self.running()), Why::Yielded);
        self.switch_to(me, NonNull::from(&self.root));
    }

    /// Picks the next thread: the root if it is due or nothing is ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn pick(&self) -> NonNull<Thread> {
        self.pick_other().unwrap_or(NonNull::from(&self.root))
    }

    /// As [`pick`](Self::pick), `None` if nothing is ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pick_other(&self) -> Option<NonNull<Thread>> {
        let budget = self.budget.get() - 1;
        self.budget.set(budget);
        if budget == 0 && self.root_is_due() {
            return Some(NonNull::from(&self.root));
        }
        if self.parasites.ready.pending.get() != 0 {
            return self.pick_parasite();
        }
        self.next_by_policy()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn switch_away(&self, me: &Thread) {
        let next = if me.below.get().is_null() { self.pick() } else { self.descend(me) };
        self.switch_to(me, next);
    }

    /// The thread that runs when the attached parasite `me` blocks: a parasite that has been unblocked since it was
    /// attached, or the thread below. If `me` has used more than its time slice, it becomes a host and queues with the hosts
    /// from now on.
    #[cold]
    #[inline(never)]
    pub(crate) fn descend(&self, me: &Thread) -> NonNull<Thread> {
        if self.shared.options.simulated {
            self.tell_stop(me);
        }
        if self.is_long(me) {
            self.inflate_thread(me);
        }
        let Some(below) = NonNull::new(me.below.replace(ptr::null()).cast_mut()) else {
            crate::bug::bug!("a parasite that is attached to nobody")
        };
        let next = self.next_above(me, below);
        if self.sees_switches() {
            self.note_switch(me, Some(next));
        }
        next
    }

    /// Saves the running thread `me` and continues `next`; returns when a thread switches back to `me`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn switch_to(&self, me: &Thread, next: NonNull<Thread>) {
        // SAFETY: a picked thread is alive until it has run.
        let target = unsafe { next.as_ref() };
        debug_assert!(!ptr::eq(me, target), "a thread was picked while it ran");
        if std::thread::panicking() {
            guard::switches_in_unwind();
        }
        let mut sp = target.sp.get();
        if sp.is_null() {
            sp = self.start(next);
            if ptr::eq(self.running.get().as_ptr(), me) {
                return; // refused or handed over, and `me` is the root itself
            }
        } else {
            self.running.set(next);
        }
        // SAFETY: `sp` was saved by this function in another thread of this worker (or made by `start`), and
        // has not been resumed since: a thread is picked once each time it becomes ready. `me.sp` is written
        // before the stack is left, and only this kernel thread reads it.
        unsafe { swapstack::switch(me.sp.as_ptr(), sp, 0) };
    }

    /// Gives `thread` a stack and makes it the running one. If the thread starts on another worker, or if
    /// there is no stack, the root runs instead, and in the latter case ends the thread. (Not the next ready
    /// thread: the notifier of the other worker is code of the program and may have woken the thread that
    /// blocks here, which must not be picked while it still runs.)
    #[inline(never)]
    fn start(&self, thread: NonNull<Thread>) -> StackPointer {
        if self.starts_elsewhere(thread) {
            return self.run_root();
        }
        self.start_here(thread)
    }

    #[inline]
    fn start_here(&self, thread: NonNull<Thread>) -> StackPointer {
        // SAFETY: picked, so alive until it has run.
        match self.stacks.pool.take(unsafe { thread.as_ref() }.label.stack_size as usize) {
            Ok(stack) => {
                // SAFETY: only this code has the stack, `top` is aligned by its contract, and `host_main`
                // never returns.
                let sp = unsafe { swapstack::init(stack.top(), host_main, ptr::null_mut()) };
                self.begin(thread, stack);
                sp
            }
            Err(error) => self.refuse(thread, error),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self, thread: NonNull<Thread>, stack: PooledStack) {
        // SAFETY: picked, so alive until it has run.
        let entry = unsafe { thread.as_ref() };
        entry.stack.set(Some(stack));
        entry.reach().begin(Arc::as_ptr(&self.remote));
        entry.state.set(ThreadState::Runnable);
        self.enlist(thread);
        self.running.set(thread);
    }

    /// Takes back the stack of a host that has ended, and takes the host out of the list.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end(&self, thread: &Thread) -> PooledStack {
        thread.state.set(ThreadState::Finished);
        self.delist(thread);
        self.running.set(NonNull::from(&self.root));
        thread.stack.take().expect("given by `begin`")
    }

    /// Keeps a thread for which no stack could be had, for the root to end it; the root runs next.
    #[cold]
    fn refuse(&self, thread: NonNull<Thread>, error: std::io::Error) -> StackPointer {
        // SAFETY: only this kernel thread reaches the list, and the reference ends with the call.
        unsafe { &mut *self.refused.get() }.push((thread, error));
        self.run_root()
    }

    fn run_root(&self) -> StackPointer {
        self.running.set(NonNull::from(&self.root));
        self.root.sp.get()
    }

    /// Puts a new host into this worker's stealable queue, or, if it is pinned, into the policy's.
    ///
    /// # Safety
    /// `thread` is unstarted and owned by the caller, who gives it up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn admit(&self, thread: NonNull<Thread>) {
        // SAFETY: unstarted and owned (contract); this is the owning kernel thread.
        unsafe {
            if !self.policy.is_plain() || thread.as_ref().label.pinned.get() {
                return self.admit_noted(thread);
            }
            self.remote.unstarted.push(Entry(thread));
        }
        self.shared.ask_for_help();
    }

    /// As [`admit`](Self::admit), where more has to be done than to put the host into the stealable queue.
    ///
    /// # Safety
    /// As for `admit`.
    #[cold]
    #[inline(never)]
    unsafe fn admit_noted(&self, thread: NonNull<Thread>) {
        // SAFETY: unstarted and owned (contract); this is the owning kernel thread.
        unsafe {
            self.note_new(thread.as_ref());
            if thread.as_ref().label.pinned.get() {
                return self.keep_unstarted(thread);
            }
            match self.policy.place(thread.as_ref(), self.remote.index, &self.shared) {
                Place::Anywhere => self.remote.unstarted.push(Entry(thread)),
                place => return self.admit_as(thread, place),
            }
        }
        self.shared.ask_for_help();
    }

    /// Gives a host that cannot be stolen to the policy.
    ///
    /// # Safety
    /// As for `admit`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn keep_unstarted(&self, thread: NonNull<Thread>) {
        // Relaxed: a hint for the watch for threads that hold up a worker.
        self.remote.has_placed.store(true, Ordering::Relaxed);
        self.policy.ready(Waiter::thread(thread), Why::Spawned);
    }

    /// As [`admit`](Self::admit), for a host that the policy keeps here, or sends to another worker.
    ///
    /// # Safety
    /// As for `admit`.
    #[cold]
    unsafe fn admit_as(&self, thread: NonNull<Thread>, place: Place) {
        let remotes = self.shared.remotes();
        let there = match place {
            Place::On(index) if index != self.remote.index => remotes.get(index),
            _ => None,
        };
        // SAFETY: unstarted and owned (contract), given up by one of these calls.
        unsafe {
            // A worker that is not there gets nothing; nor does one that has ended.
            let is_there = !matches!(place, Place::On(index) if index >= remotes.len());
            thread.as_ref().label.pinned.set(is_there);
            if there.is_some_and(|remote| remote.deliver(Waiter::thread(thread)).is_ok()) {
                return;
            }
            if is_there {
                return self.keep_unstarted(thread);
            }
            self.remote.unstarted.push(Entry(thread));
        }
        self.shared.ask_for_help();
    }

    /// The thread that the policy picks, if any is ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_by_policy(&self) -> Option<NonNull<Thread>> {
        if !self.policy.is_plain() {
            return self.next_noted();
        }
        self.policy.next_plainly(&self.remote.unstarted)
    }
}

/// Base of every host's stack: runs hosts on it, one after the other, until the next thread has another
/// stack.
///
/// The stack of a host that has ended is reused at once by the next unstarted host of the same size, without
/// a switch.
///
/// # Safety
/// Entered only through a context that `Worker::start_here` made, whose thread is then the running one.
unsafe extern "C" fn host_main(_word: usize, _data: *mut ()) -> ! {
    let worker = Worker::current().expect("hosts run on workers");
    loop {
        let (stack, size) = worker.live(worker.running());
        let next = worker.pick();
        // SAFETY: a picked thread is alive until it has run.
        let target = unsafe { next.as_ref() };
        let mut sp = target.sp.get();
        if sp.is_null() {
            if worker.starts_elsewhere(next) {
                sp = worker.run_root();
            } else if target.label.stack_size == size {
                worker.begin(next, stack);
                continue;
            } else {
                sp = worker.start_here(next);
            }
        } else {
            worker.running.set(next);
        }
        // The stack is still in use, but nothing takes a stack between here and the jump (invariant 3).
        worker.part_with(stack, size);
        // SAFETY: `sp` was saved by `switch_to` or made by `start_here`, and not resumed since; nothing on
        // this stack needs a destructor any more.
        unsafe { swapstack::jump(sp, 0) }
    }
}

impl Worker {
    /// Gives back the stack that the caller runs on. A stack without a pool would be unmapped while the
    /// caller still runs on it: it is kept until the next such stack replaces it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn part_with(&self, stack: PooledStack, size: u32) {
        if size > LARGEST_POOLED {
            drop(self.stacks.parting.replace(Some(stack)));
        } else {
            self.stacks.pool.give(stack);
        }
    }

    /// Runs the host that this stack was given to, from its closure to its published outcome; returns the
    /// stack and the size it was requested with.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn live(&self, thread: NonNull<Thread>) -> (PooledStack, u32) {
        // SAFETY: `begin` made the thread the running one of this stack; its closure runs or is dropped here,
        // once. After `publish` it is touched only on `Unwanted` and `Empty`, when nothing else refers to it.
        unsafe {
            self.remote.counters.hosts.add(1);
            let body = thread.as_ref().body;
            if self.stopping.get() || thread.as_ref().reach().is_asked() {
                // Dropped on a host's stack, so that destructors of what the closure owns may use blocking
                // calls.
                self.kill(thread.as_ref());
                (body.abandon)(thread, Abandoned::Shutdown);
            } else {
                if self.stacks.of_hosts.is_due(self.remote.counters.hosts.get()) {
                    self.measure_host(thread.as_ref());
                }
                (body.run)(thread);
                if thread.as_ref().label.is_measured.get() {
                    self.end_measurement(thread.as_ref());
                }
            }
            self.part(thread.as_ref());
            if self.records() {
                self.note_end(thread.as_ref());
            }
            let size = thread.as_ref().label.stack_size;
            let mut stack = self.end(thread.as_ref());
            match (body.publish)(thread) {
                Fate::Published => {}
                Fate::Empty => (body.free)(thread),
                Fate::Unwanted => {
                    self.begin(thread, stack);
                    (body.dispose)(thread);
                    self.part(thread.as_ref());
                    stack = self.end(thread.as_ref());
                    (body.free)(thread);
                }
            }
            (stack, size)
        }
    }

    /// Ends the threads for which no stack could be had. Runs as a plain OS thread meanwhile: there is no
    /// host to run on.
    #[cold]
    pub(super) fn end_refused(&self) {
        // SAFETY: only this kernel thread reaches the list; the reference ends here.
        let refused = std::mem::take(unsafe { &mut *self.refused.get() });
        self.uninstall();
        for (thread, error) in refused {
            // SAFETY: unstarted, and kept by `refuse` for this call; a carrier is alive until it is
            // abandoned.
            unsafe {
                if super::parasite::carrier::is_carrier(thread.as_ref()) {
                    self.carry_without_stack();
                }
                abandon(thread, Abandoned::NoStack(error));
            }
        }
        self.install();
    }
}

/// Ends a thread that never ran, outside of every host.
///
/// # Safety
/// `thread` is unstarted and owned by the caller.
#[cold]
pub(crate) unsafe fn abandon(thread: NonNull<Thread>, why: Abandoned) {
    // SAFETY: unstarted and owned (contract); after `publish` it is touched only on `Unwanted` and
    // `Empty`, when nothing else refers to it.
    unsafe {
        let body = thread.as_ref().body;
        (body.abandon)(thread, why);
        await_visitor(thread.as_ref());
        match (body.publish)(thread) {
            Fate::Published => {}
            Fate::Empty => (body.free)(thread),
            Fate::Unwanted => {
                (body.dispose)(thread);
                (body.free)(thread);
            }
        }
    }
}

/// As [`Worker::part`], outside of every host: spins until a canceller that is about to reach the thread has
/// finished. That one is on another kernel thread and does not block.
fn await_visitor(thread: &Thread) {
    if thread.reach().end() {
        let mut spins = 0;
        while thread.reach().is_visited() {
            relax(&mut spins);
        }
    }
}
