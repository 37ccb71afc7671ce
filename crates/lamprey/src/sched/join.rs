//! How a handle waits for the outcome of its thread, as a thread or as a future: what
//! [`completion`](super::completion) is asked by joiners.

use super::completion::{Completion, registered};
use super::reason::Wait;
use super::wait::{self, Waited};
use super::waiter::Waiter;
use crate::sync_shim::Ordering;
use std::task::Context;

/// The joiner as a thread.
impl Completion {
    /// Handle: blocks until the host is done; false if the caller must not block. The caller's woken
    /// parasites run first. If the caller is cancelled meanwhile, it unwinds from here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wait(&self) -> bool {
        self.forget_future();
        let waited = wait::wait(Wait::Join, None, |me| self.register(me), |me| self.unregister(me));
        if waited == Waited::Refused {
            return false;
        }
        waited.unwind_if_cancelled();
        self.must_be_done();
        true
    }

    /// After the wait: what the caller reads now has been written.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn must_be_done(&self) {
        if !self.is_done() {
            crate::bug::bug!("a joiner was woken before there was an outcome");
        }
    }

    /// As [`wait`](Self::wait), but nothing ends the wait early. A caller that must not switch blocks its
    /// kernel thread.
    pub(crate) fn wait_committed(&self) {
        self.forget_future();
        wait::wait_committed(Wait::Join, |me| self.register(me));
        self.must_be_done();
    }
}

/// The joiner as a future.
impl Completion {
    /// Handle: true once the outcome can be read; otherwise the waker of `cx` is called then.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn poll(&self, cx: &Context<'_>) -> bool {
        self.is_done() || self.poll_later(cx)
    }

    #[cold]
    fn poll_later(&self, cx: &Context<'_>) -> bool {
        // Acquire pairs with the Release swap in `publish`.
        let word = self.0.load(Ordering::Acquire);
        if let Some(old) = registered(word) {
            if old.is_of(cx) {
                return false;
            }
            if !self.unregister(old) {
                return true;
            }
            // SAFETY: taken back out of the word.
            unsafe { old.forget() };
        }
        let waiter = Waiter::of(cx).keep();
        if self.register(waiter) {
            return false;
        }
        // SAFETY: never came into the word.
        unsafe { waiter.forget() };
        true
    }
}
