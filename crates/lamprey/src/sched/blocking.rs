//! How a worker blocks, wakes and interrupts a host: the transitions of the states in
//! [`block`](super::block), up to the switch itself.
//!
//! Also built for the model checker, where a host is a loom thread that runs only while it has its worker's
//! baton (`model/host.rs`); a switch hands the baton on.
//!
//! # Invariants
//! Those of [`block`](super::block) and [`wait`](super::wait).
//!
//! # Who may touch what
//! All of a host but its link: its home worker, that is, the thread that runs on that kernel thread.
//!
//! # Orderings
//! None here: a wake from another kernel thread comes through the inbox.
//!
//! # Checked by
//! `model::host_waits` (loom, with broken variants), `tests/cancel/owed.rs`.

use super::guard;
use super::parasite::task::{Form, Task};
use super::reason::On;
#[cfg(all(debug_assertions, not(loom)))]
use super::reason::Wait;
use super::thread::Woke;
use super::thread::{Kind, Thread, ThreadState};
use super::waiter::Waiter;
use super::who::Who;
use super::worker::Worker;
use crate::sync_shim::left_out;
use std::ptr::{self, NonNull};
use std::sync::Arc;

impl Worker {
    /// Blocks the running host; see [`block`](super::block::block).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn block(&self, on: On) -> Woke {
        let me = self.running_ref();
        if me.eager.get() != 0 {
            return self.end_block_at_once(me);
        }
        #[cfg(all(debug_assertions, not(loom)))]
        {
            me.must_not_wait_in_poll();
            self.must_have_no_mutex();
        }
        self.note_wait(me, on, ThreadState::Blocked);
        self.switch_away(me);
        me.woke.get()
    }

    /// Notes in its descriptor that a thread waits from now on, in `state`, and for what.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn note_wait(&self, me: &Thread, on: On, state: ThreadState) {
        me.state.set(state);
        me.reason.set(on.reason);
        #[cfg(not(loom))]
        {
            me.on.set(on.what);
            me.since.set(self.rounds.stamp.get());
        }
    }

    /// For a thread whose `eager` forbids an ordinary block or yield: ends the process unless the reason is
    /// cancellation.
    #[cold]
    pub(super) fn must_be_free(&self, me: &Thread) {
        me.must_be_closed();
        if me.is_barred() {
            guard::has_switched(Some(self));
        }
    }

    /// A cancelled host does not block: the call ends as if it had been interrupted.
    #[cold]
    fn end_block_at_once(&self, me: &Thread) -> Woke {
        self.must_be_free(me);
        me.open();
        Woke::Cancelled
    }

    /// Blocks the running host until its wake, not interruptibly; see
    /// [`await_wake`](super::block::await_wake).
    pub(super) fn block_committed(&self, on: On) {
        let me = self.running_ref();
        if me.is_barred() {
            guard::has_switched(Some(self));
        }
        if !me.take_pending_wake() {
            #[cfg(all(debug_assertions, not(loom)))]
            if on.reason != Wait::Cancellation {
                me.must_not_wait_in_poll();
            }
            self.note_wait(me, on, ThreadState::Committed);
            self.switch_away(me);
        }
    }

    /// Makes a host of this worker runnable: its wake has come.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn wake_here(&self, thread: NonNull<Thread>) {
        // SAFETY: alive: it is in its blocking call until it runs again, which needs this wake.
        let entry = unsafe { thread.as_ref() };
        if matches!(entry.state.get(), ThreadState::Blocked | ThreadState::Committed) {
            if entry.kind == Kind::Parasite {
                return self.wake_parasite(entry, Form::Soon);
            }
            self.make_ready(thread, Woke::Woken);
        } else {
            entry.note_wake();
        }
    }

    /// Wakes a host of this worker that is Blocked; for every other thread returns `None` and does nothing.
    /// The common case of [`wake_host`], for callers that know their worker. True if the order of threads is the
    /// program's own: it may want the woken one to run before the caller goes on, at a scheduling point of the caller's.
    ///
    /// # Safety
    /// As for [`Waiter::wake`](super::Waiter::wake).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake_neighbour(&self, thread: NonNull<Thread>) -> Option<bool> {
        // SAFETY: alive: it is in its blocking call until this wake (contract). Its kind is constant, a
        // host's `home` was written when it started, and its state may be read here if this is its home.
        let entry = unsafe { thread.as_ref() };
        let is_here = entry.kind == Kind::Host && ptr::eq(Arc::as_ptr(&self.remote), entry.reach().home());
        let is_ours = is_here && entry.state.get() == ThreadState::Blocked;
        is_ours.then(|| self.make_ready(thread, Woke::Woken))
    }

    /// True if the order of threads is the program's own.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn make_ready(&self, thread: NonNull<Thread>, woke: Woke) -> bool {
        // SAFETY: blocked, so alive until it runs again.
        let entry = unsafe { thread.as_ref() };
        entry.woke.set(woke);
        entry.state.set(ThreadState::Runnable);
        self.enqueue_woken(thread)
    }

    /// Ends a block on this worker early: the host learns why and takes its own node out.
    ///
    /// Does nothing if the host is not blocked, or not interruptible.
    ///
    /// # Safety
    /// A started host of this worker that has not ended.
    pub(crate) unsafe fn interrupt(&self, thread: NonNull<Thread>, why: Woke) {
        // SAFETY: alive (contract).
        let entry = unsafe { thread.as_ref() };
        let state = entry.state.get();
        let is_blocked =
            state == ThreadState::Blocked || left_out!(HostCommitted) && state == ThreadState::Committed;
        if is_blocked {
            if left_out!(HostOpen) {
                self.make_ready(thread, why);
                return;
            }
            entry.open();
            self.make_ready(thread, why);
        }
    }

    /// Handles an entry of the inbox, or one just taken from another worker: a new host, a wake for a started
    /// one, a parasite, a remote message.
    ///
    /// # Safety
    /// `entry` is owned by the caller as in
    /// [`WorkerShared::deliver`](super::worker_shared::WorkerShared::deliver).
    pub(crate) unsafe fn receive(&self, entry: Waiter) {
        // SAFETY: owned by this call (contract); threads are alive until they have run.
        unsafe {
            match entry.who() {
                Who::Task(task) => Task::receive(task, self),
                Who::Thread(thread) if thread.as_ref().state.get() == ThreadState::Unstarted => {
                    self.admit(thread)
                }
                Who::Thread(thread) => self.wake_here(thread),
                Who::RemoteMessage(message) => (message.as_ref().run)(message, Some(self)),
                Who::Foreign(_) => crate::bug::bug!("a foreign waker came out of an inbox"),
            }
        }
    }
}

/// Wakes a host, from any kernel thread.
///
/// # Safety
/// As for [`Waiter::wake`](super::Waiter::wake).
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn wake_host(thread: NonNull<Thread>) {
    // SAFETY: alive: the host is in its blocking call until this wake; `home` was written when it started.
    let entry = unsafe { thread.as_ref() };
    let home = entry.reach().home();
    if let Some(worker) = Worker::current()
        && ptr::eq(Arc::as_ptr(&worker.remote), home)
    {
        return worker.wake_here(thread);
    }
    // SAFETY: the host is alive until this wake, which the caller has the right to make.
    unsafe { wake_elsewhere(thread) }
}

/// As [`wake_host`], for a stackful parasite.
///
/// # Safety
/// As for [`Waiter::wake`](super::Waiter::wake).
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn wake_parasite(thread: NonNull<Thread>, form: Form) {
    // SAFETY: alive: it is in its blocking call until this wake; `home` was written when it started.
    let entry = unsafe { thread.as_ref() };
    if let Some(worker) = Worker::current()
        && ptr::eq(Arc::as_ptr(&worker.remote), entry.reach().home())
        && matches!(entry.state.get(), ThreadState::Blocked | ThreadState::Committed)
    {
        return worker.wake_parasite(entry, form);
    }
    // SAFETY: the parasite is alive until this wake, which the caller has the right to make.
    unsafe { wake_host(thread) }
}

/// [`wake_host`] for a host of another worker: sends it to that worker's inbox.
///
/// # Safety
/// As for [`wake_host`].
#[cold]
unsafe fn wake_elsewhere(thread: NonNull<Thread>) {
    // SAFETY: the host is blocked, so its runtime and its worker's shared state are alive; after the delivery
    // both may end at any moment, hence the count taken first.
    unsafe {
        let home = thread.as_ref().reach().home();
        Arc::increment_strong_count(home);
        let remote = Arc::from_raw(home);
        if remote.deliver(Waiter::thread(thread)).is_err() {
            crate::bug::bug!("a worker ended while one of its hosts was blocked");
        }
    }
}
