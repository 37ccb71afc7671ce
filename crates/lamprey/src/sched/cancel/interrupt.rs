//! What cancellation does to a thread of the calling kernel thread's worker.

use super::frame::Frame;
use super::state::{must_be_outside, weigh};
use crate::sched::thread::{Thread, Woke};
use crate::sched::worker::Worker;
use std::ptr::NonNull;

impl Worker {
    /// Marks a thread of this worker: it is to end.
    #[cold]
    pub(in crate::sched) fn doom(&self, thread: &Thread) {
        thread.doomed.set(true);
        weigh(thread);
    }

    /// Dooms a thread of this worker, and ends its block unless it is shielded.
    ///
    /// # Safety
    /// As for [`interrupt`](Self::interrupt).
    pub(crate) unsafe fn cancel(&self, thread: NonNull<Thread>) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.doom(thread.as_ref());
            self.interrupt_if_cancelled(thread);
        }
    }

    /// Trips a level of a thread of this worker.
    ///
    /// # Safety
    /// As for [`interrupt`](Self::interrupt); `frame` is one of the thread's, entered and not left.
    pub(crate) unsafe fn trip(&self, frame: &Frame, thread: NonNull<Thread>) {
        frame.set_tripped();
        // SAFETY: as promised by the caller.
        unsafe {
            weigh(thread.as_ref());
            self.interrupt_if_cancelled(thread);
        }
    }

    /// # Safety
    /// As for [`interrupt`](Self::interrupt).
    unsafe fn interrupt_if_cancelled(&self, thread: NonNull<Thread>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if thread.as_ref().is_cancelled() {
                self.interrupt(thread, Woke::Cancelled);
            }
        }
    }

    /// A host of this worker ends: somebody who is on the way to cancel it is waited for, by letting the root
    /// take in what has been sent.
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
