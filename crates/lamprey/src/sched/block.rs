//! Blocking a thread: the states and the rules of waking that all blocking calls share (Go's `gopark` and
//! `goready`). [`wait`](super::wait) is how blocking calls use it.
//!
//! # States
//! Those of [`ThreadState`](super::thread::ThreadState): Runnable, Blocked, Committed.
//!
//! # Invariants
//! 1. **A wake is a right.** A thread that is about to block puts a node with its [`Waiter`] into some queue.
//!    The thread that takes the node out, under that queue's lock or by the CAS that stands for it, must call
//!    [`Waiter::wake`] exactly once; no other thread may wake.
//! 2. **An interrupt is local.** Timeouts and cancellation happen on the thread's home worker and only make
//!    it runnable with another [`Woke`]; they touch no queue. The thread itself goes back to the queue and
//!    takes its node out. If the node is gone, the wake is under way, and is awaited ([`await_wake`]) before
//!    anything else happens.
//! 3. A started host runs only on its home worker, so nothing can resume it before it has been switched away
//!    from: no other kernel thread can see a moment between "enqueued" and "context saved".
//!
//! # Who may touch what
//! The home worker touches the thread's cells; another kernel thread that holds the right to wake touches
//! only the link (by pushing the thread into the home worker's inbox).
//!
//! # Orderings
//! None here: a wake on the same worker is a plain call; any other goes through the inbox (Release/Acquire)
//! or through [`os`](super::os).
//!
//! # Rejected
//! * An atomic state word in each thread (wake = CAS): 5 ns more for each message, and needed only because
//!   timers and cancellation would touch the thread from other kernel threads.
//! * A post-switch step that publishes the node once the context is saved (Go's `gopark` with an unlock
//!   function): not needed while hosts do not move (invariant 3), and one more word through every switch.
//!
//! # Checked by
//! `model::host_waits` (loom, hosts), `model::channel` and all others that block (loom, OS threads),
//! `tests/stress/mixed.rs`, `tests/channel/rendezvous.rs`.

use super::os;
use super::parasite::task::Task;
use super::reason::On;
use super::thread::{Thread, Woke};
use super::waiter::Waiter;
use super::worker::Worker;
use std::ptr::NonNull;
use std::task::Context;

/// The calling kernel thread's worker, if its threads block by switching. (In the model checker not every
/// worker has hosts.)
#[cfg_attr(not(debug_assertions), inline(always))]
fn worker() -> Option<&'static Worker> {
    #[cfg(not(loom))]
    return Worker::current();
    #[cfg(loom)]
    return Worker::current().filter(|worker| worker.has_hosts());
}

/// The calling thread as a waiter, before it queues a node and blocks: a scheduling point. Parasites that the
/// caller has woken run first, on its stack, so no lock may be held.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn waiter() -> Waiter {
    if let Some(worker) = worker() {
        worker.attach_ready();
        return Waiter::thread(worker.running());
    }
    os_waiter()
}

/// The calling kernel thread as a waiter, whatever runs on it.
pub(crate) fn os_waiter() -> Waiter {
    Waiter::thread(os::about_to_wait())
}

/// The thread that runs on the calling kernel thread: a thread of a worker, its root, or the OS thread
/// itself.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn current() -> NonNull<Thread> {
    if let Some(worker) = worker() {
        return worker.running();
    }
    os::current()
}

/// True on a worker's kernel thread, false on a plain OS thread.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn on_host() -> bool {
    worker().is_some()
}

/// Blocks the calling thread until its wake or its cancellation; used only by [`wait`](super::wait).
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn block(on: On) -> Woke {
    if let Some(worker) = worker() {
        return worker.block(on);
    }
    os::block(on, None)
}

/// Blocks until a wake that is certain to come. Not interruptible.
#[cold]
pub(crate) fn block_until_woken(on: On) {
    // SAFETY: the caller's own descriptor, alive while it runs.
    unsafe { current().as_ref() }.must_be_closed();
    await_wake(on);
}

/// As [`block_until_woken`], also for a wait that is open.
pub(super) fn await_wake(on: On) {
    if let Some(worker) = worker() {
        return worker.block_committed(on);
    }
    os::block_committed();
}

/// True if the calling thread's blocking calls are to end, and it does not unwind yet.
pub(crate) fn is_cancelled() -> bool {
    // SAFETY: the caller's own descriptor.
    !std::thread::panicking() && super::cancel::state::is_cancelled(unsafe { current().as_ref() })
}

/// True on the only worker of a runtime: no other thread of that runtime runs at the same time.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_alone() -> bool {
    #[cfg(not(loom))]
    return Worker::current().is_some_and(|worker| !worker.is_parallel());
    #[cfg(loom)]
    return false;
}

/// Called by a future before its first action: true if it is polled as a parasite that must yield to the
/// hosts first; it is then polled again.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn gives_way(cx: &Context<'_>) -> bool {
    let gives_way = Task::of(cx).is_some() && Worker::current().is_some_and(|worker| !worker.spend());
    if gives_way {
        cx.waker().wake_by_ref();
    }
    gives_way
}

/// True between the start and the end of a worker, on its kernel thread.
#[cfg(not(loom))]
pub(crate) fn on_worker() -> bool {
    Worker::current().is_some()
}

/// True while the calling thread unwinds: a call that would have to block must fail at once instead, because
/// a stack switch in the middle of an unwind would mix up the panic counts of two hosts.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn must_not_block() -> bool {
    std::thread::panicking() && on_host()
}

/// Counts a value that has gone through a channel.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn count_communication() {
    if let Some(worker) = Worker::current() {
        worker.remote.counters.communications.add(1);
    }
}

/// Counts events of descriptors, or completions of operations, that the calling worker has fetched.
#[cfg(not(loom))]
pub(crate) fn count_io_events(events: usize) {
    if let Some(worker) = Worker::current() {
        worker.remote.counters.io_events.add(events as u64);
    }
}

/// The payload of the unwind that ends a cancelled host. Private, so that user code can catch it but not
/// construct it.
pub(crate) struct CancelUnwind;

/// Ends the calling host by an unwind that runs its destructors and reaches the joiner as `Cancelled`. Prints
/// no panic message.
#[cold]
pub(crate) fn unwind_cancelled() -> ! {
    std::panic::resume_unwind(Box::new(CancelUnwind))
}
