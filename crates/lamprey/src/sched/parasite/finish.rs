//! The end of a task, carried out by the holder of the right to run.
//!
//! # Checked by
//! `model::life` and `model::completion` (loom), `tests/parasite/life.rs` (also: handles outlive their
//! runtime).

use super::task::{FAILED, Task};
use crate::sched::completion::Published;
use crate::sched::waiter::Waiter;
use crate::sched::who::Who;
#[cfg(not(loom))]
use crate::sched::worker::Worker;
use std::ptr::NonNull;

/// The future of `task` has been dropped and its outcome stored: hands the outcome to the joiner.
///
/// The caller no longer acts for the task ([`acting_as`]): once the outcome is published the task may be
/// freed, even by the waker that is called here, and that waker may ask which parasite runs.
///
/// # Safety
/// The caller holds the right to run, and gives it up.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn finish(task: NonNull<Task>) {
    // SAFETY: the right to run keeps the task alive until it is published; after that it is touched only if
    // `publish` gives it to us (`Unwanted`).
    unsafe {
        let entry = task.as_ref();
        entry.life.finish();
        // A handle that is gone does not come back.
        let published =
            if entry.completion.is_detached() { Published::Unwanted } else { entry.completion.publish() };
        match published {
            Published::Kept => {}
            Published::PendingWake(waiter) => waiter.wake_kept(),
            Published::Unwanted => {
                if !entry.body.is_plain || entry.life.flags.get() & FAILED != 0 {
                    acting_as(task, || (entry.body.dispose)(task));
                }
                Task::drop_owner(task);
            }
        }
    }
}

/// Drops the future of `task` and finishes it as cancelled.
///
/// # Safety
/// The caller holds the right to run, and gives it up.
#[cold]
pub(crate) unsafe fn finish_cancelled(task: NonNull<Task>) {
    // SAFETY: the right to run (contract) is the right to drop the future. The destructors run as the
    // parasite, with its values and its name.
    unsafe {
        acting_as(task, || (task.as_ref().body.cancel)(task));
        finish(task);
    }
}

/// Ends what was sent to the inbox of a worker that has ended.
#[cold]
pub(in crate::sched) fn refused_by_inbox(waiter: Waiter) {
    match waiter.who() {
        // SAFETY: a shared task is sent with the right to run it, and may be dropped on any kernel thread. An
        // owned one comes as a post, with a reference, and is over.
        Who::Task(task) => unsafe {
            if task.as_ref().life.is_shared() {
                finish_cancelled(task);
            } else {
                Task::release(task);
            }
        },
        // SAFETY: a remote message is run once; its function gives up its claims on what it names.
        Who::RemoteMessage(message) => unsafe { (message.as_ref().run)(message, None) },
        _ => crate::bug::bug!("a worker ended while one of its hosts was blocked"),
    }
}

/// Under loom tasks have no values, names or cancellation.
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
