//! The hot path: blocking, waking, yielding, starting and ending hosts, by switching from one straight to the
//! next.
//!
//! # Invariants
//! 1. There is no scheduler context in between: who blocks picks the next thread and switches to it. The
//!    worker's root is an ordinary target, picked when nothing is ready or when it is due.
//! 2. `Worker::running` names the thread whose stack the kernel thread is on, and is set just before each
//!    switch.
//! 3. A stack goes back to the pool only by the code that runs on it, right before it jumps away, and nothing
//!    else takes a stack from the pool in between. One that no pool keeps is parked in `Worker::parting`
//!    instead.
//! 4. No `&mut` into a worker's cell lives across a switch.
//!
//! Everything up to the switch is `#[cfg_attr(not(debug_assertions), inline(always))]`: a `ret` whose
//! prediction was spoilt by a switch costs more than all the rest (measured: a switch 2 ns, with such a `ret`
//! 5.5).

use super::guard;
use super::parasite::task::Form;
use super::policy::{Ready, Why};
use super::thread::Woke;
use super::thread::{Abandoned, Entry, Fate, State, Thread};
use super::waiter::Waiter;
use super::worker::Worker;
use crate::sync_shim::relax;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use swapstack::{PooledStack, Stack, StackPointer};

/// Larger stacks have a mapping each (`swapstack::StackPool`), which goes when they are given back.
const LARGEST_POOLED: u32 = 256 << 10;

impl Worker {
    /// Lets the other ready threads run. True if the host has been cancelled.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn yield_now(&self) -> bool {
        let thread = self.running();
        // SAFETY: the running thread, which is the caller.
        let me = unsafe { thread.as_ref() };
        if me.eager.get() != 0 {
            self.must_be_free(me);
            return true;
        }
        let next = if me.below.get().is_null() { self.pick_other() } else { Some(self.descend(me)) };
        if let Some(next) = next {
            self.policy.ready(Ready(thread), Why::Yielded);
            self.switch_to(me, next);
        }
        false
    }

    /// A stackful parasite is woken: it goes ahead of the hosts, unless it has become one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn wake_parasite(&self, entry: &Thread, form: Form) {
        if entry.inflated.get() {
            return self.make_ready(NonNull::from(entry), Woke::Woken);
        }
        entry.woke.set(Woke::Woken);
        entry.state.set(State::Runnable);
        self.seat.counters.attached.add(1);
        let inline = form != Form::Soon && (form != Form::AsTask || entry.attach_inline.get());
        if inline && self.may_attach(form) && self.running_ref().below.get().is_null() {
            self.seat.counters.attached_inline.add(1);
            return self.attach_thread(entry);
        }
        self.push_woken(Waiter::thread(NonNull::from(entry)));
    }

    /// Runs a ready parasite now, on top of the running thread, which goes on when that blocks or ends.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn attach_thread(&self, parasite: &Thread) {
        let me = self.running_ref();
        debug_assert!(!me.is_open(), "a parasite was attached within a wait");
        parasite.attached_at.set(self.seat.ticks());
        parasite.below.set(me);
        self.switch_to(me, NonNull::from(parasite));
    }

    /// Puts a host that has been woken, or interrupted, into the queue of those that are ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn enqueue_woken(&self, thread: NonNull<Thread>) {
        self.policy.ready(Ready(thread), Why::Woken);
    }

    /// Lets the root run before the running host `me` goes on.
    pub(super) fn give_way_to_root(&self, me: &Thread) {
        self.placing.gave_way.set(me);
        self.policy.ready(Ready(self.running()), Why::Yielded);
        self.switch_to(me, NonNull::from(&self.root));
    }

    /// Picks what runs next: the root if it is due or nothing is ready.
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
        if self.parasites.woken.pending.get() != 0 {
            return self.pick_parasite();
        }
        self.policy.next(&self.seat.unstarted).map(|ready| ready.0)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn switch_away(&self, me: &Thread) {
        let next = if me.below.get().is_null() { self.pick() } else { self.descend(me) };
        self.switch_to(me, next);
    }

    /// The thread below an attached parasite, which goes on now. A parasite that has used more than its time
    /// slice waits its turn among the hosts from here on.
    #[cold]
    #[inline(never)]
    pub(crate) fn descend(&self, me: &Thread) -> NonNull<Thread> {
        if self.is_long(me) {
            self.inflate_thread(me);
        }
        let below = NonNull::new(me.below.replace(ptr::null()).cast_mut());
        below.unwrap_or_else(|| crate::bug::bug!("a parasite that is attached to nobody"))
    }

    /// Saves the running thread `me` and continues with `next`; returns when somebody continues `me`.
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
                return; // refused or handed over, and the root is here already
            }
        } else {
            self.running.set(next);
        }
        // SAFETY: `sp` was saved by this function in another host of this worker (or made by `start`), and
        // has not been resumed since: a thread is picked once for each time it becomes ready. `me.sp` is
        // written before the stack is left, and only this kernel thread reads it.
        unsafe { swapstack::switch(me.sp.as_ptr(), sp, 0) };
    }

    /// Gives `thread` a stack and makes it the running one. The root goes on instead if the thread starts on
    /// another worker, or if there is no stack, which the root is told. (Not the next thread: the one that
    /// blocks may have been woken by the code of the program that notifies the other worker, and is not to be
    /// picked while it still runs.)
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
                // SAFETY: the stack is ours alone, `top` is aligned by its contract, and `host_main` never
                // returns.
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
        entry.reach().begin(Arc::as_ptr(&self.seat));
        entry.state.set(State::Runnable);
        self.enlist(thread);
        self.running.set(thread);
    }

    /// Takes the stack of a host that has ended, and forgets the host.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end(&self, thread: &Thread) -> PooledStack {
        thread.state.set(State::Finished);
        self.delist(thread);
        self.running.set(NonNull::from(&self.root));
        thread.stack.take().expect("given by `begin`")
    }

    /// Keeps a thread that cannot have a stack for the root to end; what runs next is the root.
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

    /// Puts a new host into this worker's queue.
    ///
    /// # Safety
    /// `thread` is unstarted and owned by the caller, who gives it up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn admit(&self, thread: NonNull<Thread>) {
        // SAFETY: as promised by the caller; this is the owning kernel thread.
        unsafe {
            if thread.as_ref().label.pinned {
                return self.policy.ready(Ready(thread), Why::Spawned);
            }
            self.seat.unstarted.push(Entry(thread));
        }
        self.shared.ask_for_help();
    }
}

/// Base of every host's stack: runs hosts on it until the next thing to do lives elsewhere.
///
/// A finished host's stack is used at once by the next unstarted host of the same size, without a switch.
///
/// # Safety
/// Entered only through a context that [`Worker::start`] made, whose thread is then the running one.
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
        // Still in use, but nothing takes a stack between here and the jump (invariant 3).
        worker.part_with(stack, size);
        // SAFETY: `sp` as in `switch_to`; nothing on this stack needs a destructor any more.
        unsafe { swapstack::jump(sp, 0) }
    }
}

impl Worker {
    /// Gives back the stack that the caller runs on. A stack without a pool would be unmapped under the
    /// caller's feet: it is kept until the next one of its kind comes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn part_with(&self, stack: PooledStack, size: u32) {
        if size > LARGEST_POOLED {
            drop(self.stacks.parting.replace(Some(stack)));
        } else {
            self.stacks.pool.give(stack);
        }
    }

    /// Runs the host that this stack was given to, from its closure to its published outcome; returns the
    /// stack, and the size that it was asked for with.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn live(&self, thread: NonNull<Thread>) -> (PooledStack, u32) {
        // SAFETY: the thread was made the running one of this stack by `begin`: its closure runs or is
        // dropped here, once. After `publish` it is touched only if that says that nobody else has it.
        unsafe {
            self.seat.counters.hosts.add(1);
            let body = thread.as_ref().body;
            if self.stopping.get() || thread.as_ref().reach().is_asked() {
                // A host like any other, so that the destructors of what the closure owns may do what they
                // like.
                self.doom(thread.as_ref());
                (body.abandon)(thread, Abandoned::Shutdown);
            } else {
                (body.run)(thread);
            }
            self.part(thread.as_ref());
            let size = thread.as_ref().label.stack_size;
            let mut stack = self.end(thread.as_ref());
            if (body.publish)(thread) == Fate::Unwanted {
                self.begin(thread, stack);
                (body.dispose)(thread);
                self.part(thread.as_ref());
                stack = self.end(thread.as_ref());
                (body.free)(thread);
            }
            (stack, size)
        }
    }

    /// Ends the threads that could not have a stack, as a plain kernel thread: there is no host to run on.
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
    // SAFETY: unstarted and owned (contract); after `publish` it is touched only if nobody else has it.
    unsafe {
        let body = thread.as_ref().body;
        (body.abandon)(thread, why);
        await_visitor(thread.as_ref());
        if (body.publish)(thread) == Fate::Unwanted {
            (body.dispose)(thread);
            (body.free)(thread);
        }
    }
}

/// As [`Worker::part`], outside of every host: the visitor is on its way on another kernel thread, and does
/// not block.
fn await_visitor(thread: &Thread) {
    if thread.reach().end() {
        let mut spins = 0;
        while thread.reach().is_visited() {
            relax(&mut spins);
        }
    }
}
