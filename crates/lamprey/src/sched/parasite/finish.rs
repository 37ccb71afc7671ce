//! How a task ends: by whoever holds the right to run it.
//!
//! # Checked by
//! `model::life` and `model::completion` (loom), `tests/parasite/life.rs` (also: handles outlive their
//! runtime).

use super::task::Task;
use crate::sched::completion::Published;
use crate::sched::waiter::Waiter;
use crate::sched::who::Who;
#[cfg(not(loom))]
use crate::sched::worker::Worker;
use std::ptr::NonNull;

/// The future of `task` is gone, its outcome kept: hands that to whoever joins.
///
/// Whoever calls this does not act for the task any more ([`acting_as`]): once it is published it may be
/// freed, also by the waker that is called here, and that may ask who runs.
///
/// # Safety
/// The caller holds the right to run, and gives it up.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn finish(task: NonNull<Task>) {
    // SAFETY: alive until published; after that only if it is ours.
    unsafe {
        let entry = task.as_ref();
        entry.life.finish();
        match entry.completion.publish() {
            Published::Kept => {}
            Published::Owed(waiter) => waiter.wake_kept(),
            Published::Unwanted => {
                acting_as(task, || (entry.body.dispose)(task));
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
        acting_as(task, || (task.as_ref().body.cancel)(task));
        finish(task);
    }
}

/// The worker to which a task was sent has ended.
#[cold]
pub(in crate::sched) fn refused_by_inbox(waiter: Waiter) {
    match waiter.who() {
        // SAFETY: a post comes with a reference and finds its task over; the right to run a shared one is
        // ours, and it may be dropped on any kernel thread.
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

/// The checker's tasks have no values, names or cancellation.
#[cfg(loom)]
pub(crate) use crate::sched::worker::acting_as;

/// Calls `f` as a part of `task`: with its values, its name and its cancellation.
#[cfg(not(loom))]
pub(crate) fn acting_as(task: NonNull<Task>, f: impl FnOnce()) {
    let me = Worker::current().map(Worker::running_ref);
    let before = me.map(|me| me.act_for(task.as_ptr()));
    f();
    if let (Some(me), Some(before)) = (me, before) {
        me.act_for(before);
    }
}
