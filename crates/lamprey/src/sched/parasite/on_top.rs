//! Running a stackful parasite on top of its spawner, in a [context](super::contexts) of its own: the spawner
//! stays Runnable, in no queue, and goes on when the parasite blocks or ends.
//!
//! # States
//! ```text
//! idle (in the worker's cache) --begin--> running on top of its spawner --ends--> idle
//!                                           \--blocks--> a listed thread like a host --ends--> idle
//! ```
//! A parasite with a name, or a stack of another size, has a context of its own: it is made for that
//! parasite, and is spent (in `Parasites::spent`) when the parasite ends, until it is freed from another
//! stack.
//!
//! # Invariants
//! 1. An idle context is suspended in [`context_main`], at a point where nothing on its stack needs a
//!    destructor: it may be freed, or resumed for the next call.
//! 2. `call` points to its spawner's call, which does not return before the parasite has blocked or ended.
//! 3. The descriptor lives as long as the context; it is listed from the first block of a call to its end (more
//!    exactly, from when its spawner goes on after that).
//!
//! # What runs when it blocks
//! First the stackful parasites that have become ready since it was attached, on top of the same spawner
//! ([`Worker::next_above`]), then the spawner. So parasites that wait for each other end, and their stacks are used
//! again, while the thread that started them goes on starting: a tree of a million parasites needs as many
//! stacks as it is deep and wide, not a million. Each thread waits for [`IN_A_ROW`] of them at most, which it counts itself: what
//! others do above one of them does not make the row longer. Those that were ready before are left alone: the spawner may
//! hold a lock of `std` that they take. One that is over before its spawner has gone on goes straight to the thread below
//! it, so the spawner soon reads its outcome. That need not be the thread below: where a parasite blocked, and another that ran
//! in its place unblocked it, it ran above a third one. Then its context may have been used again when its spawner goes
//! on, who therefore reads the outcome only.

use super::contexts::{Context, TopCall};
use crate::sched::hints::Given;
use crate::sched::thread::{Abandoned, Body, Fate, Label, Thread, ThreadState};
use crate::sched::waiter::Waiter;
use crate::sched::worker::Worker;
use std::cell::Cell;
use std::io;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use swapstack::Stack;

/// Most idle contexts that a worker keeps.
const KEEP: usize = 256;
/// After this many parasites in a row the thread below goes on.
const IN_A_ROW: u8 = 64;

impl Worker {
    /// A context of the cache, or a new one.
    ///
    /// # Errors
    /// There is no stack.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn idle_context(&self) -> io::Result<NonNull<Context>> {
        self.parasites.contexts.pop().map_or_else(|| self.new_context(), Ok)
    }

    /// Runs `call` as a parasite on top of the running thread; returns when the parasite has ended or
    /// blocked.
    ///
    /// # Safety
    /// `call` lives until this returns; the context is idle or new, and in no cache.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn run_in(
        &self,
        context: NonNull<Context>,
        call: NonNull<TopCall>,
        site: &'static Location<'static>,
        attach_inline: bool,
    ) {
        // SAFETY: no other code has the context until it runs.
        unsafe {
            let context = context.as_ref();
            context.thread.label.id.set(self.new_id());
            context.thread.label.spawn_site.set(site);
            context.call.set(call.as_ptr());
            context.join_cell.set(ptr::null());
            context.thread.begin_anew(self.stopping.get());
            context.thread.attach_inline.set(attach_inline);
            context.thread.inflated.set(false);
            context.thread.penalty.set(0);
            context.thread.state.set(ThreadState::Runnable);
            self.attach_thread(&context.thread);
        }
    }

    #[cold]
    fn new_context(&self) -> io::Result<NonNull<Context>> {
        self.make_context(Label::internal(0, self.shared.stack_size), context_main)
    }

    /// A context for one parasite, which has a name, or a stack of another size.
    ///
    /// # Errors
    /// There is no stack.
    #[cold]
    pub(crate) fn own_context(
        &self,
        given: Option<Arc<Given>>,
        stack_size: u32,
    ) -> io::Result<NonNull<Context>> {
        self.free_spent();
        self.make_context(Label { given, ..Label::internal(0, stack_size) }, own_context_main)
    }

    fn make_context(
        &self,
        label: Label,
        main: unsafe extern "C" fn(usize, *mut ()) -> !,
    ) -> io::Result<NonNull<Context>> {
        let stack = self.stacks.pool.take(label.stack_size as usize)?;
        let context = NonNull::from(Box::leak(Box::new(Context {
            thread: Thread::parasite(&NO_HOST, label),
            call: Cell::new(ptr::null()),
            join_cell: Cell::new(ptr::null()),
            next: Cell::new(ptr::null_mut()),
            parent: Cell::new(0),
        })));
        // SAFETY: no other code has the new context. The stack is used by this context alone, and
        // neither `main` returns.
        unsafe {
            let thread = &context.as_ref().thread;
            thread.reach().begin(Arc::as_ptr(&self.remote));
            thread.sp.set(swapstack::init(stack.top(), main, context.as_ptr().cast()));
            thread.stack.set(Some(stack));
        }
        Ok(context)
    }

    /// The parasite of `context` has blocked and its spawner goes on: from now on it is listed like a host.
    pub(crate) fn stand_alone(&self, context: NonNull<Context>) {
        // SAFETY: a context lives until it is freed, which its parasite has yet to end for.
        unsafe { context.as_ref() }.parent.set(self.spawner());
        self.enlist(context.cast());
        if self.records() {
            // SAFETY: a context lives until it is freed, which its parasite has yet to end for.
            self.note_stands_alone(&unsafe { context.as_ref() }.thread);
        }
    }

    /// Frees a context that runs no parasite.
    ///
    /// # Safety
    /// It is idle (invariant 1), and has been taken out of the cache.
    unsafe fn free_context(&self, context: NonNull<Context>) {
        // SAFETY: leaked by `make_context`, and freed here only.
        let context = unsafe { Box::from_raw(context.as_ptr()) };
        if let Some(stack) = context.thread.stack.take() {
            self.stacks.pool.give(stack);
        }
    }

    /// Frees the idle contexts: the worker ends, or its stacks are trimmed.
    pub(in crate::sched) fn free_contexts(&self) {
        while let Some(context) = self.parasites.contexts.pop() {
            // SAFETY: it was idle, and is popped.
            unsafe { self.free_context(context) };
        }
        self.free_spent();
    }

    fn free_spent(&self) {
        while let Some(context) = self.parasites.spent.pop() {
            // SAFETY: its parasite has ended and switched away for good; it is popped.
            unsafe { self.free_context(context) };
        }
    }

    /// Keeps the context of a parasite that is over: it is idle once another thread has been switched to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn keep(&self, context: &Context) {
        if self.parasites.contexts.count.get() < KEEP {
            self.parasites.contexts.push(context);
        } else if let Some(surplus) = self.parasites.contexts.pop() {
            // SAFETY: it was idle, and is popped.
            unsafe { self.free_context(surplus) };
            self.parasites.contexts.push(context);
        }
    }

    /// Like [`keep`](Self::keep) for a context of one parasite: the next such context frees it, when its stack
    /// is no longer in use.
    fn keep_spent(&self, context: &Context) {
        self.free_spent();
        self.parasites.spent.push(context);
    }

    /// Runs the call of `context`. When this returns, its parasite is over.
    ///
    /// # Safety
    /// The context runs, has been given a call, and that is alive until the parasite blocks (invariant 2).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run_call(&self, context: &Context) {
        // SAFETY: as promised by the caller; `run` reads what it needs before the parasite blocks.
        unsafe {
            let call = NonNull::new_unchecked(context.call.get().cast_mut());
            (call.as_ref().run)(call, context);
        }
        let thread = &context.thread;
        if !context.join_cell.get().is_null() {
            self.delist(thread);
        }
        crate::sched::cancel::state::must_be_outside(thread);
        thread.state.set(ThreadState::Finished);
    }

    /// Switches from a parasite that is over to the thread below it, or to another that is ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn switch_from(&self, context: &Context) {
        let next = match NonNull::new(context.thread.below.replace(ptr::null()).cast_mut()) {
            None => self.pick(),
            // It was not reified: its spawner looks at the context next.
            Some(below) if context.join_cell.get().is_null() => below,
            Some(below) => self.next_above_noted(&context.thread, below),
        };
        self.switch_to(&context.thread, next);
    }

    /// `me`, a parasite on top of `below`, has blocked or is over: the parasite that runs in its place, or `below`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn next_above(&self, me: &Thread, below: NonNull<Thread>) -> NonNull<Thread> {
        if self.parasites.ready.pending.get() <= me.ready_before.get() as usize {
            return below;
        }
        self.take_above(me, below)
    }

    /// As [`next_above`](Self::next_above), of a parasite that is over.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next_above_noted(&self, me: &Thread, below: NonNull<Thread>) -> NonNull<Thread> {
        let next = self.next_above(me, below);
        if self.sees_switches() {
            self.note_switch(me, Some(next));
        }
        next
    }

    #[cold]
    #[inline(never)]
    fn take_above(&self, me: &Thread, below: NonNull<Thread>) -> NonNull<Thread> {
        // SAFETY: runnable, and in no queue: it waits for what is above it.
        let in_a_row = unsafe { &below.as_ref().in_a_row };
        let before = me.ready_before.get();
        if in_a_row.get() < IN_A_ROW
            && let Some(parasite) = self.parasites.ready.pop_thread_above(before as usize)
        {
            in_a_row.set(in_a_row.get() + 1);
            // SAFETY: ready, so alive until it has run.
            let entry = unsafe { parasite.as_ref() };
            entry.attached_at.set(self.remote.ticks());
            entry.ready_before.set(before);
            entry.below.set(below.as_ptr());
            return parasite;
        }
        below
    }
}

/// The base of a parasite's stack: runs one call after the other.
///
/// # Safety
/// Entered only by the first switch to a context that `make_context` made.
unsafe extern "C" fn context_main(_word: usize, data: *mut ()) -> ! {
    // SAFETY: `make_context` passed the context, which lives as long as this stack is used.
    let context = unsafe { &*data.cast::<Context>() };
    let worker = Worker::current().unwrap_or_else(|| crate::bug::bug!("a parasite without a worker"));
    loop {
        // SAFETY: each switch to an idle context gives it a call (`run_in`).
        unsafe { worker.run_call(context) };
        worker.keep(context);
        worker.switch_from(context);
    }
}

/// Base of the stack of a parasite with a context of its own: one call.
///
/// # Safety
/// Entered only through a context that `own_context` made.
unsafe extern "C" fn own_context_main(_word: usize, data: *mut ()) -> ! {
    // SAFETY: `make_context` passed the context, which lives as long as this stack is used.
    let context = unsafe { &*data.cast::<Context>() };
    let worker = Worker::current().unwrap_or_else(|| crate::bug::bug!("a parasite without a worker"));
    worker.measure_if_due(&context.thread);
    // SAFETY: the switch to a new context gives it a call (`run_in`).
    unsafe { worker.run_call(context) };
    if context.thread.label.is_measured.get() {
        worker.end_measurement(&context.thread);
    }
    worker.keep_spent(context);
    worker.switch_from(context);
    crate::bug::bug!("a parasite was resumed after its end")
}

/// The scheduler never starts, ends or frees a parasite.
static NO_HOST: Body = Body {
    run: |_| crate::bug::bug!("a parasite was run as a host"),
    abandon: |_, _: Abandoned| crate::bug::bug!("a parasite was abandoned as a host"),
    publish: |_| -> Fate { crate::bug::bug!("a parasite was published as a host") },
    dispose: |_| crate::bug::bug!("a parasite was disposed of as a host"),
    free: |_| crate::bug::bug!("a parasite was freed as a host"),
    scope: None,
};

impl Worker {
    /// The running parasite becomes a host: it is queued, and the thread below it goes on.
    pub(crate) fn inflate_running(&self) {
        let me = self.running_ref();
        self.inflate_thread(me);
        if !me.below.get().is_null() {
            self.policy.ready(Waiter::thread(self.running()), crate::sched::policy::Why::Yielded);
            let next = self.descend(me);
            self.switch_to(me, next);
        }
    }

    /// Makes a stackful parasite a host: from now on a wake puts it behind the hosts that are ready.
    pub(in crate::sched) fn inflate_thread(&self, parasite: &Thread) {
        if !parasite.inflated.replace(true) {
            self.remote.counters.inflated.add(1);
            if self.records() {
                self.note_inflated(parasite);
            }
        }
    }
}
