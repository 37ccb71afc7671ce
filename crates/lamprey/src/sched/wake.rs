//! [`Waiter::wake`]: makes a thread runnable (Go's `goready`), has a parasite run, or calls a foreign waker.

use super::blocking;
use super::foreign::Foreign;
use super::guard;
use super::os;
use super::parasite::task::{Form, Task};
use super::thread::{Kind, Thread};
use super::waiter::Waiter;
use super::who::Who;
use super::worker::Worker;
use std::ptr::NonNull;

impl Waiter {
    /// Makes the thread runnable, or has the parasite run, or calls the waker.
    ///
    /// # Safety
    /// The caller removed a node with this waiter from its queue and has not woken it yet (invariant 1 of
    /// [`block`](super::block)). What the thread is to find after its block has been written before. A
    /// parasite is alive (see [`Waiter`]).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake(self) {
        // SAFETY: the contract of `run` is that of `wake`.
        unsafe { self.run(Form::Soon) }
    }

    /// As [`wake`](Self::wake); `form` says whether and how a parasite runs at once.
    ///
    /// # Safety
    /// As for `wake`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(self, form: Form) {
        match self.who() {
            // SAFETY: the caller holds the right to wake the thread.
            Who::Thread(thread) => unsafe { wake_thread(thread, form) },
            // SAFETY: the caller holds the right to wake the task, which is alive.
            Who::Task(task) => unsafe { Task::wake(task, form) },
            // SAFETY: the caller took the word out of its node.
            Who::Foreign(waker) => unsafe { Foreign::wake(waker, form) },
            Who::RemoteMessage(_) => crate::bug::bug!("an message was woken"),
        }
    }

    /// Takes a reference to a parasite, for a word that outlasts the node. To be followed by
    /// [`wake_kept`](Self::wake_kept) or [`forget`](Self::forget).
    pub(crate) fn keep(self) -> Self {
        if let Who::Task(task) = self.who() {
            // SAFETY: the task is alive: its waker is, in whose poll this is called.
            unsafe { task.as_ref() }.life.retain();
        }
        self
    }

    /// [`wake`](Self::wake), and releases the reference that [`keep`](Self::keep) took.
    ///
    /// # Safety
    /// As for `wake`; the caller took the word out of its place.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake_kept(self) {
        // SAFETY: the caller holds the right to wake; the reference keeps the task alive until it is
        // released.
        unsafe {
            self.run(Form::Soon);
            if let Who::Task(task) = self.who() {
                Task::release(task);
            }
        }
    }

    /// As [`wake_kept`](Self::wake_kept); `form` says whether and how a parasite runs at once. Out of line:
    /// callers on hot paths test for threads and tasks first.
    ///
    /// # Safety
    /// As for `wake_kept`.
    #[inline(never)]
    pub(crate) unsafe fn run_kept(self, form: Form) {
        // SAFETY: the caller holds the right to wake; the reference keeps the task alive until it is
        // released.
        unsafe {
            self.run(form);
            if let Some(task) = self.as_task() {
                Task::release(task);
            }
        }
    }

    /// Releases the reference that [`keep`](Self::keep) took, or drops a foreign waker. Does nothing for a
    /// thread.
    ///
    /// # Safety
    /// The caller took the word out of its place.
    pub(crate) unsafe fn forget(self) {
        match self.who() {
            Who::Thread(_) | Who::RemoteMessage(_) => {}
            // SAFETY: the reference that `keep` took goes with the word.
            Who::Task(task) => unsafe { Task::release(task) },
            // SAFETY: the caller took the word out of its place.
            Who::Foreign(waker) => unsafe { Foreign::forget(waker, 1) },
        }
    }
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
        // SAFETY: the caller holds the right to wake the parasite. In line, because it may switch.
        return unsafe { blocking::wake_parasite(thread, form) };
    }
    // SAFETY: the contract of `wake_os` is that of this function.
    unsafe { wake_os(thread, kind) }
}

/// The rest of [`wake_thread`], out of line: a match of four kinds would be compiled to a jump table.
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
