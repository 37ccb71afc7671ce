//! What becomes of a thread of a worker that calls `fork`: in the child it is a plain OS thread that happens to be on a host's stack.
//!
//! The child has the worker's memory, and an event loop that it shares with its parent. If the worker went on there, a call that blocks
//! would run the parent's other hosts a second time, and take the parent's events. So the kernel thread leaves its worker at once: calls
//! that block wait as on any OS thread, those that need a host say that there is none. In a simulation the worker is all that there is,
//! and its copy goes on.
//!
//! Invariant: `HOST` is null, or the thread that ran when the calling kernel thread, then a worker's, was copied by `fork`.

use super::thread::Thread;
use super::timers;
use super::worker::Worker;
use std::cell::Cell;
use std::ptr;

std::thread_local! {
    static HOST: Cell<*const Thread> = const { Cell::new(ptr::null()) };
}

/// Called in a child made by `fork`, before the call of `fork` returns: true if the calling kernel thread was a worker's until now.
pub(crate) fn leave_worker() -> bool {
    let Some(worker) = Worker::current().filter(|worker| !worker.shared.options.simulated) else {
        return false;
    };
    let host = worker.running_ref();
    HOST.set(host);
    // When it has done what it was to do it looks whether it was measured, and so comes to `must_not_end`.
    host.label.is_measured.set(true);
    worker.uninstall();
    timers::exchange(ptr::null());
    true
}

/// True in a child for the thread that has called `fork`.
pub(super) fn is_here(thread: &Thread) -> bool {
    ptr::eq(HOST.get(), thread)
}

/// Ends the process if this is the child of the thread, which has done what it was to do: nobody is there who would go on.
pub(super) fn must_not_end(thread: &Thread) {
    if is_here(thread) {
        crate::bug::say!(
            "a host has called `fork`, and has ended in the child, where its runtime is not: end a child by \
             `std::process::exit`, or by `exec`"
        );
        std::process::exit(1);
    }
}
