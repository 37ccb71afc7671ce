//! Cancelling a thread of the calling kernel thread's worker.

use super::frame::Frame;
use super::state::{must_be_outside, recompute};
use crate::sched::thread::{Thread, Woke};
use crate::sched::worker::Worker;
use std::ptr::NonNull;

impl Worker {
    /// Marks a thread of this worker as killed.
    #[cold]
    pub(in crate::sched) fn kill(&self, thread: &Thread) {
        thread.killed.set(true);
        recompute(thread);
    }

    /// Kills a thread of this worker, and ends its block unless it is shielded.
    ///
    /// # Safety
    /// A started host of this worker that has not ended.
    pub(crate) unsafe fn cancel(&self, thread: NonNull<Thread>) {
        // SAFETY: alive, and of this worker (contract).
        unsafe {
            self.kill(thread.as_ref());
            self.interrupt_if_cancelled(thread);
        }
    }

    /// Cancels a level of a thread of this worker.
    ///
    /// # Safety
    /// A started host of this worker that has not ended; `frame` is one that it has entered and not left.
    pub(crate) unsafe fn cancel_level(&self, frame: &Frame, thread: NonNull<Thread>) {
        frame.set_cancelled();
        // SAFETY: alive, and of this worker (contract).
        unsafe {
            recompute(thread.as_ref());
            self.interrupt_if_cancelled(thread);
        }
    }

    /// # Safety
    /// A started host of this worker that has not ended.
    unsafe fn interrupt_if_cancelled(&self, thread: NonNull<Thread>) {
        // SAFETY: alive, and of this worker (contract).
        unsafe {
            if thread.as_ref().is_cancelled() {
                self.interrupt(thread, Woke::Cancelled);
            }
        }
    }

    /// A host of this worker ends: if another thread is about to cancel it, waits for that by giving way to
    /// the root, which receives the order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn part(&self, me: &Thread) {
        must_be_outside(me);
        if me.reach().end() {
            self.await_visitor(me);
        }
    }

    #[cold]
    fn await_visitor(&self, me: &Thread) {
        while me.reach().is_visited() {
            self.give_way_to_root(me);
        }
    }
}
