//! The parasites of a worker that can run now, and who runs them: ahead of every host, on the stack of whoever unblocked
//! them where that can be, within a budget (parasitic-threads-2011, 2.2; DESIGN 5).
//!
//! # Where a ready parasite waits
//! * `woken`, last in first out: what has just been unblocked here runs next, while its data is in the cache.
//! * `given_way`, first in first out: those that gave way themselves, and what the budget has pushed back ("spilled").
//!
//! # Who runs it
//! 1. Whoever unblocks it, inside the unblocking call: only where the program asks for that ([`Form`]), because the caller may
//!    hold a lock. Nesting is bounded by [`NESTING`] (shared/PROTOCOLS.md part C: 1 is best), and by the stack that is left.
//! 2. The same thread at its next scheduling point: a host that is about to block first runs `woken` ([`Worker::attach_woken`],
//!    called by `sched::waiter`, before anything is queued: nothing is ever run between "queued" and "switched away").
//! 3. A **carrier**: a host of the worker's own, for what is woken where there is no host below (from an event source,
//!    from another kernel thread), or not enough stack.
//!
//! # Fairness
//! `turn` counts the parasites and the channel operations of parasites that may still go ahead of the hosts. At zero, ready
//! parasites go to the back, and a host has its turn. The worker's timer flag ([`super::offer`]) ends a turn too.
//!
//! # Invariants
//! 1. `pending` = entries of `woken` + entries of `given_way` (+ 1 while the tasks of an ending runtime are unreaped).
//! 2. An entry of `woken` or `given_way` is held with the right to run it ([`Life`](super::life::Life), or, for a thread,
//!    State::Runnable).
//! 3. `carrier` is null or a carrier that is parked (Committed), in no queue: whoever takes it out runs it.
//!
//! # Checked by
//! `tests/parasite_attach.rs` (order, nesting, a chain of a million, fairness), `tests/parasite_life.rs`.

use super::block::{Waiter, Who};
use super::life::Turn;
use super::policy::Ready;
use super::task::{Form, HEAVY, HOSTED, INLINE, STARTED, Task};
use super::thread::{Abandoned, Body, Fate, Label, State, Thread};
use super::worker::Worker;
use crate::queue::ring::Ring;
use crate::sched::completion::Published;
use std::cell::{Cell, UnsafeCell};
use std::panic::Location;
use std::ptr::{self, NonNull};

/// Most inline attaches inside one another on one stack.
const NESTING: u8 = 1;
/// Parasites and their channel operations that may go ahead of a ready host.
pub(super) const TURN: u32 = 1024;
/// Most entries of `woken`: what is beyond spills.
const WOKEN: usize = 4096;

/// See the module's text.
pub(super) struct Attach {
    woken: UnsafeCell<Ring<Waiter>>,
    first: Cell<*mut Task>,
    last: Cell<*mut Task>,
    pub(super) pending: Cell<usize>,
    turn: Cell<u32>,
    pub(super) carrier: Cell<*mut Thread>,
    pub(super) unreaped: Cell<bool>,
}

impl Attach {
    pub(super) fn new() -> Self {
        Self {
            woken: UnsafeCell::new(Ring::new()),
            first: Cell::new(ptr::null_mut()),
            last: Cell::new(ptr::null_mut()),
            pending: Cell::new(0),
            turn: Cell::new(TURN),
            carrier: Cell::new(ptr::null_mut()),
            unreaped: Cell::new(false),
        }
    }

    #[inline(always)]
    fn with_woken<R>(&self, f: impl FnOnce(&mut Ring<Waiter>) -> R) -> R {
        // SAFETY: only this kernel thread gets here, and the closures below call nothing that could come back.
        f(unsafe { &mut *self.woken.get() })
    }

    fn count(&self, by: isize) {
        self.pending.set(self.pending.get().wrapping_add_signed(by));
    }
}

/// An address near the top of the running stack.
#[inline(always)]
fn here() -> usize {
    let probe = std::mem::MaybeUninit::<u8>::uninit();
    (&raw const probe).addr()
}

impl Thread {
    /// True if there is enough stack left to run a parasite on it.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        here() > self.low_water.get()
    }
}

impl Worker {
    /// Brings a task whose right to run the caller holds to run.
    #[inline(always)]
    pub(crate) fn bring(&self, task: NonNull<Task>, form: Form) {
        // SAFETY: alive by the right to run.
        let flags = unsafe { task.as_ref() }.life.flags.get();
        if flags & (HOSTED | HEAVY) != 0 {
            return self.bring_to_host(task);
        }
        if form != Form::Soon && (form != Form::AsTask || flags & INLINE != 0) && self.may_attach(form) {
            let me = self.running_ref();
            self.seat.counters.attached_inline.add(1);
            me.nesting.set(me.nesting.get() + 1);
            self.run_task(task);
            return me.nesting.set(me.nesting.get() - 1);
        }
        self.push_woken(Waiter::task(task));
    }

    #[inline(always)]
    pub(super) fn may_attach(&self, form: Form) -> bool {
        let me = self.running_ref();
        me.has_room()
            && (form == Form::Now || (me.nesting.get() < NESTING && self.has_turn()))
            && !std::thread::panicking()
    }

    #[cold]
    fn bring_to_host(&self, task: NonNull<Task>) {
        // SAFETY: alive by the right to run.
        let entry = unsafe { task.as_ref() };
        if entry.life.flags.get() & HOSTED != 0 {
            // SAFETY: the right to run is the right to wake the host, which is blocked until then, once.
            return unsafe { entry.host().wake() };
        }
        if entry.life.is_shared() {
            // SAFETY: the right to run goes to the host that this makes.
            unsafe { (entry.body.inflate)(task, self) };
        } else {
            // It cannot leave the worker, so a stack of its own would win nothing: it waits its turn among the hosts.
            self.give_way(task);
        }
    }

    /// A parasite whose right to run the caller holds has come from elsewhere.
    pub(super) fn make_attachable(&self, parasite: Waiter) {
        match parasite.who() {
            Who::Task(task) => self.bring(task, Form::Soon),
            _ => self.push_woken(parasite),
        }
    }

    /// As [`make_attachable`](Self::make_attachable), for a task that [`Life::cancel`](super::life::Life::cancel) gave us
    /// here, on the root: its destructors need a host.
    pub(super) fn make_doomed(&self, task: NonNull<Task>) {
        // SAFETY: alive by the right to run.
        unsafe { task.as_ref() }.life.requeue();
        self.make_attachable(Waiter::task(task));
    }

    #[inline(always)]
    pub(crate) fn push_woken(&self, parasite: Waiter) {
        let attach = &self.attach;
        if !self.has_turn() || attach.with_woken(|woken| woken.len() >= WOKEN) {
            return self.spill(parasite);
        }
        attach.with_woken(|woken| woken.push_back(parasite));
        attach.count(1);
    }

    /// Queues a ready parasite behind the hosts that are ready.
    #[cold]
    fn spill(&self, parasite: Waiter) {
        match parasite.who() {
            Who::Task(task) => self.give_way(task),
            Who::Thread(thread) => self.policy.ready(Ready(thread), super::policy::Why::Yielded),
            _ => crate::bug::bug!("neither thread nor task was queued as a parasite"),
        }
    }

    /// Puts a task whose right to run the caller holds at the back.
    pub(crate) fn give_way(&self, task: NonNull<Task>) {
        self.seat.counters.spilled.add(1);
        // SAFETY: alive by the right to run.
        let entry = unsafe { task.as_ref() };
        if !entry.life.is_shared() && !entry.life.link() {
            return; // it is in our inbox already, and comes out of that
        }
        let attach = &self.attach;
        entry.link.set(ptr::null_mut());
        let last = attach.last.replace(task.as_ptr());
        // SAFETY: an entry of the list is held with the right to run: alive.
        match unsafe { last.as_ref() } {
            Some(last) => last.link.set(task.as_ptr().cast()),
            None => attach.first.set(task.as_ptr()),
        }
        attach.count(1);
    }

    fn pop_given_way(&self) -> Option<NonNull<Task>> {
        let task = NonNull::new(self.attach.first.get())?;
        // SAFETY: as in `give_way`.
        let entry = unsafe { task.as_ref() };
        let next = entry.link.get().cast();
        self.attach.first.set(next);
        if next.is_null() {
            self.attach.last.set(ptr::null_mut());
        }
        if !entry.life.is_shared() {
            entry.life.unlink();
        }
        self.attach.count(-1);
        Some(task)
    }

    /// The latest of the woken, if it is a task.
    #[inline(always)]
    fn pop_woken_task(&self) -> Option<NonNull<Task>> {
        self.attach.with_woken(|woken| match woken.back()?.who() {
            Who::Task(task) => {
                woken.pop_back();
                self.attach.count(-1);
                Some(task)
            }
            _ => None,
        })
    }

    /// The latest of the woken, if it is a thread.
    fn pop_woken_thread(&self) -> Option<NonNull<Thread>> {
        self.attach.with_woken(|woken| match woken.back()?.who() {
            Who::Thread(thread) => {
                woken.pop_back();
                self.attach.count(-1);
                Some(thread)
            }
            _ => None,
        })
    }

    /// The oldest of the woken that another worker may run.
    pub(super) fn pop_oldest_shared(&self) -> Option<NonNull<Task>> {
        self.attach.with_woken(|woken| match woken.front()?.who() {
            // SAFETY: held with the right to run: alive.
            Who::Task(task) if unsafe { task.as_ref() }.life.is_shared() => {
                woken.pop_front();
                self.attach.count(-1);
                Some(task)
            }
            _ => None,
        })
    }

    pub(super) fn has_no_woken(&self) -> bool {
        self.attach.with_woken(|woken| woken.len() == 0)
    }

    /// A parasite runs, or does a channel operation: false if it should give way first.
    #[inline(always)]
    pub(crate) fn spend(&self) -> bool {
        let turn = self.attach.turn.get();
        if turn == 0 && !self.next_turn() {
            return false;
        }
        self.attach.turn.set(self.attach.turn.get() - 1);
        true
    }

    /// True while parasites may go ahead of the hosts.
    #[inline(always)]
    fn has_turn(&self) -> bool {
        self.attach.turn.get() != 0 || self.next_turn()
    }

    /// The turn is over; a new one begins at once if nobody waits for it.
    #[cold]
    #[inline(never)]
    fn next_turn(&self) -> bool {
        if !self.policy.is_empty() || !self.seat.unstarted.is_empty() || self.root_waits() {
            return false;
        }
        self.attach.turn.set(TURN);
        true
    }

    /// A host that runs a task by itself gives the others their turn.
    pub(crate) fn take_turn(&self) {
        self.yield_now();
        self.attach.turn.set(TURN);
    }

    /// A scheduling point: runs what the calling host has woken (see the module's text, 2).
    #[inline(always)]
    pub(crate) fn attach_woken(&self) {
        if self.attach.pending.get() != 0 {
            self.attach_some();
        }
    }

    #[cold]
    #[inline(never)]
    fn attach_some(&self) {
        let me = self.running_ref();
        if !me.polling.get().is_null() || !me.has_room() || me.cancelled.get() || std::thread::panicking() {
            return;
        }
        let ticks = self.seat.ticks();
        while ticks == self.seat.ticks()
            && self.has_turn()
            && let Some(task) = self.pop_woken_task()
        {
            self.run_task(task);
        }
    }

    /// Runs a task whose right the caller holds, on the stack of the running host, until it is over or waits.
    #[inline(always)]
    pub(crate) fn run_task(&self, task: NonNull<Task>) {
        self.spend();
        self.seat.counters.attached.add(1);
        let me = self.running_ref();
        let before = me.polling.replace(task.as_ptr());
        // SAFETY: alive by the right to run, which the caller holds; `finish` and `end` give it up last.
        unsafe {
            let entry = task.as_ref();
            if entry.life.begin() == Turn::Drop || self.stopping.get() {
                finish_cancelled(task);
            } else {
                entry.life.flags.set(entry.life.flags.get() | STARTED);
                let start = self.seat.ticks();
                if (entry.body.poll)(task) {
                    finish(task);
                } else {
                    if self.seat.ticks() != start {
                        self.weigh(task, start);
                    }
                    self.end_turn(task);
                }
            }
        }
        me.polling.set(before);
    }

    /// A poll was pending: gives the right up, or queues the task again.
    ///
    /// # Safety
    /// The caller holds the right to run `task`, and gives it up.
    #[inline(always)]
    pub(crate) unsafe fn end_turn(&self, task: NonNull<Task>) {
        // SAFETY: alive by the right to run; not touched after `Idle`.
        match unsafe { task.as_ref() }.life.end() {
            Turn::Again => self.again(task),
            // SAFETY: the right is still ours.
            Turn::Drop => unsafe { finish_cancelled(task) },
            Turn::Idle | Turn::Run => {}
        }
    }

    #[cold]
    fn again(&self, task: NonNull<Task>) {
        // SAFETY: alive by the right to run.
        if unsafe { task.as_ref() }.life.flags.get() & HEAVY != 0 {
            self.bring_to_host(task);
        } else {
            self.give_way(task);
        }
    }

    /// Picks a parasite, or the host whose turn it is: called when `pending` is not zero.
    #[cold]
    #[inline(never)]
    pub(super) fn pick_parasite(&self) -> Option<NonNull<Thread>> {
        if self.attach.turn.get() == 0 {
            self.attach.turn.set(TURN);
            if let Some(host) = self.policy.next(&self.seat.unstarted) {
                return Some(host.0);
            }
        }
        if let Some(parasite) = self.pop_woken_thread() {
            self.spend();
            return Some(parasite);
        }
        let parked = NonNull::new(self.attach.carrier.replace(ptr::null_mut()));
        Some(
            parked
                .inspect(|carrier| self.set_state(*carrier, State::Runnable))
                .unwrap_or_else(|| new_carrier(self)),
        )
    }

    fn set_state(&self, thread: NonNull<Thread>, state: State) {
        // SAFETY: a carrier of this worker, alive until it ends itself.
        unsafe { thread.as_ref() }.state.set(state);
    }

    /// The life of a carrier.
    fn carry(&self) {
        let me = self.running();
        loop {
            self.carry_turn();
            if self.stopping.get() {
                if self.attach.pending.get() == 0 {
                    return;
                }
            } else if !self.attach.carrier.get().is_null() {
                return;
            } else {
                self.set_state(me, State::Committed);
                self.attach.carrier.set(me.as_ptr());
            }
            let next = self.pick();
            if next == me {
                continue;
            }
            if self.stopping.get() {
                // Not parked: the next carrier goes on with what is left.
                self.policy.ready(Ready(me), super::policy::Why::Yielded);
            }
            // SAFETY: the running carrier.
            self.switch_to(unsafe { me.as_ref() }, next);
        }
    }

    /// Runs what is woken, then those that gave way, until the turn is over.
    fn carry_turn(&self) {
        if self.attach.unreaped.replace(false) {
            self.reap();
            self.attach.count(-1);
        }
        let ticks = self.seat.ticks();
        let mut rounds = TURN / 4;
        while self.seat.ticks() == ticks && self.has_turn() {
            if let Some(task) = self.pop_woken_task() {
                self.run_task(task);
            } else if !self.has_no_woken() {
                return; // a stackful one is next
            } else if rounds != 0
                && let Some(task) = self.pop_given_way()
            {
                rounds -= 1;
                self.run_task(task);
            } else {
                break;
            }
        }
        self.attach.turn.set(if self.attach.pending.get() == 0 { TURN } else { 0 });
    }

    /// The runtime ends: cancels all tasks of this worker's slab.
    fn reap(&self) {
        // SAFETY: a block with its mark holds a task. One that another kernel thread has just given back looks live too, but
        // its life says DONE, and `cancel` touches nothing then; otherwise the cancel takes the right to run, or leaves
        // the task to who has it. It is not kept beyond the call.
        self.slab.each_live(|block| unsafe { Task::cancel(block.cast()) });
    }
}

/// The future of `task` is gone, its outcome kept: hands that to whoever joins.
///
/// # Safety
/// The caller holds the right to run, and gives it up.
#[inline(always)]
pub(crate) unsafe fn finish(task: NonNull<Task>) {
    // SAFETY: alive until published; after that only if it is ours.
    unsafe {
        let entry = task.as_ref();
        entry.life.finish();
        match entry.completion.publish() {
            Published::Kept => {}
            Published::Owed(waiter) => waiter.wake_kept(),
            Published::Unwanted => {
                (entry.body.dispose)(task);
                Task::drop_owner(task);
            }
        }
    }
}

/// Drops the future of `task` and finishes it as cancelled.
///
/// # Safety
/// As for [`finish`].
#[cold]
pub(crate) unsafe fn finish_cancelled(task: NonNull<Task>) {
    // SAFETY: as promised by the caller. The destructors run as the parasite: its values, its name.
    unsafe {
        let me = Worker::current().map(Worker::running_ref);
        let before = me.map(|me| me.polling.replace(task.as_ptr()));
        (task.as_ref().body.cancel)(task);
        if let (Some(me), Some(before)) = (me, before) {
            me.polling.set(before);
        }
        finish(task);
    }
}

/// The worker to which a task was sent has ended.
#[cold]
pub(super) fn refused_by_inbox(waiter: Waiter) {
    match waiter.who() {
        // SAFETY: a post comes with a reference and finds its task over; the right to run a shared one is ours, and it may
        // be dropped on any kernel thread.
        Who::Task(task) => unsafe {
            if task.as_ref().life.is_shared() {
                finish_cancelled(task);
            } else {
                Task::release(task);
            }
        },
        // SAFETY: an errand's claims on what it names are given up by its own function.
        Who::Errand(errand) => unsafe { (errand.as_ref().run)(errand, None) },
        _ => crate::bug::bug!("a worker ended while one of its hosts was blocked"),
    }
}

/// A host of the worker's own. See the module's text, 3.
#[track_caller]
fn new_carrier(worker: &Worker) -> NonNull<Thread> {
    let label = Label {
        id: worker.new_id(),
        name: None,
        spawn_site: Location::caller(),
        stack_size: worker.shared.stack_size,
        pinned: true,
    };
    NonNull::from(Box::leak(Box::new(Thread::host(&CARRIER, label))))
}

static CARRIER: Body =
    Body { run: carry, abandon: carry_or_not, publish: |_| Fate::Unwanted, dispose: |_| {}, free };

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
/// As for [`carry`], unless there is no stack.
unsafe fn carry_or_not(thread: NonNull<Thread>, why: Abandoned) {
    if matches!(why, Abandoned::Shutdown) {
        // SAFETY: as promised by the caller.
        unsafe { carry(thread) };
    }
}

/// [`Body::free`].
///
/// # Safety
/// The carrier has ended.
unsafe fn free(thread: NonNull<Thread>) {
    // SAFETY: leaked by `new_carrier`, and freed here only.
    drop(unsafe { Box::from_raw(thread.as_ptr()) });
}
