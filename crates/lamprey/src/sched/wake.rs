//! How a waiter is woken: a thread is made runnable, a parasite is brought to run, a foreign waker is called.

use super::blocking;
use super::guard;
use super::os;
use super::parasite::task::{Form, Task};
use super::thread::{Kind, Thread};
use super::waiter::Waiter;
use super::who::Who;
use super::worker::Worker;
use std::ptr::NonNull;
use std::task::Waker;

impl Waiter {
    /// Makes the thread runnable, or has the parasite run, or calls the waker.
    ///
    /// # Safety
    /// The caller removed a node with this waiter from its queue and has not woken it yet (invariant 1). What
    /// the thread is to find after its block has been written before. A parasite is alive (see the type).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake(self) {
        // SAFETY: as promised by the caller.
        unsafe { self.run(Form::Soon) }
    }

    /// As [`wake`](Self::wake), in a form of choice.
    ///
    /// # Safety
    /// As for `wake`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(self, form: Form) {
        match self.who() {
            // SAFETY: as promised by the caller.
            Who::Thread(thread) => unsafe { wake_thread(thread, form) },
            // SAFETY: as above.
            Who::Task(task) => unsafe { Task::wake(task, form) },
            // SAFETY: the box is ours with the waiter (contract).
            Who::Foreign(waker) => wake_boxed(unsafe { Box::from_raw(waker.as_ptr()) }, form),
            Who::Errand(_) => crate::bug::bug!("an errand was woken"),
        }
    }

    /// For a word that outlasts the node: takes a reference to a parasite. To be followed by
    /// [`wake_kept`](Self::wake_kept) or [`forget`](Self::forget).
    pub(crate) fn keep(self) -> Self {
        if let Who::Task(task) = self.who() {
            // SAFETY: alive: called in a poll with its waker.
            unsafe { task.as_ref() }.life.retain();
        }
        self
    }

    /// [`wake`](Self::wake), and gives up what [`keep`](Self::keep) took.
    ///
    /// # Safety
    /// As for `wake`; the caller took the word out of its place.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake_kept(self) {
        // SAFETY: as promised by the caller; the reference keeps the task alive until it is released.
        unsafe {
            self.run(Form::Soon);
            if let Who::Task(task) = self.who() {
                Task::release(task);
            }
        }
    }

    /// As [`wake_kept`](Self::wake_kept), in a form of choice. Out of line: those in a hurry have looked for
    /// threads and tasks before.
    ///
    /// # Safety
    /// As for `wake_kept`.
    #[inline(never)]
    pub(crate) unsafe fn run_kept(self, form: Form) {
        // SAFETY: as promised by the caller; the reference keeps the task alive until it is released.
        unsafe {
            self.run(form);
            if let Some(task) = self.as_task() {
                Task::release(task);
            }
        }
    }

    /// Gives up what [`keep`](Self::keep) took, and a foreign waker. Nothing for a thread.
    ///
    /// # Safety
    /// The caller took the word out of its place.
    pub(crate) unsafe fn forget(self) {
        match self.who() {
            Who::Thread(_) | Who::Errand(_) => {}
            // SAFETY: the reference is ours.
            Who::Task(task) => unsafe { Task::release(task) },
            Who::Foreign(waker) => {
                // SAFETY: the box is ours.
                let waker = unsafe { Box::from_raw(waker.as_ptr()) };
                crate::bug::no_unwind("a waker", || call_out(|| drop(waker)));
            }
        }
    }
}

/// Calls a waker, or brings the parasite behind it to run.
#[cold]
fn wake_boxed(waker: Box<Waker>, form: Form) {
    crate::bug::no_unwind("a waker", || match Task::of_waker(&waker) {
        // SAFETY: the waker holds a reference.
        Some(task) => unsafe { Task::wake(task, form) },
        None => call_out(|| waker.wake()),
    });
}

/// Calls a waker's functions: others may be owed wakes, so these must not switch.
fn call_out(code: impl FnOnce()) {
    guard::no_switch("a waker", code);
}

/// Ends the block of a thread.
///
/// # Safety
/// As for [`Waiter::wake`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn wake_thread(thread: NonNull<Thread>, form: Form) {
    // SAFETY: the thread is inside its blocking call until this wake (invariant 1); `kind` is constant.
    let kind = unsafe { thread.as_ref() }.kind;
    if kind == Kind::Host {
        // SAFETY: the caller holds the right (contract).
        return unsafe { blocking::wake_host(thread) };
    }
    if kind == Kind::Parasite {
        // SAFETY: as above. In line, because it may switch.
        return unsafe { blocking::wake_parasite(thread, form) };
    }
    // SAFETY: as above.
    unsafe { wake_os(thread, kind) }
}

/// The rest of [`wake_thread`], out of line: four kinds in one place are a table of jumps.
///
/// # Safety
/// As for [`wake_thread`]; the thread is an OS thread, unless a root has blocked.
#[inline(never)]
unsafe fn wake_os(thread: NonNull<Thread>, kind: Kind) {
    match kind {
        // SAFETY: the caller holds the right (contract).
        Kind::Os => unsafe { os::wake(thread) },
        _ => guard::has_switched(Worker::current()),
    }
}
