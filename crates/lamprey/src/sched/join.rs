//! Joining: how a handle waits, as a thread or as a future, for the outcome in a [`Completion`].

use super::completion::{Completion, Ended, registered};
use super::reason::{On, Wait};
use super::wait::{self, Early, Waited};
use super::waiter::Waiter;
use crate::sync_shim::Ordering;
use std::task::Context;
use std::time::Instant;

/// What the joiner of the thread at this address blocks on.
#[cfg_attr(not(debug_assertions), inline(always))]
fn join_of(whom: *const ()) -> On {
    On { reason: Wait::Join, what: whom }
}

/// The joiner as a thread.
impl Completion {
    /// Handle: blocks until the host has published; false if the caller must not block. Parasites that the
    /// caller has woken run first. Unwinds if the caller is cancelled meanwhile.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wait(&self, whom: *const ()) -> bool {
        self.forget_future();
        let waited = wait::wait(join_of(whom), None, |me| self.register(me), |me| self.unregister(me));
        if waited == Waited::Refused {
            return false;
        }
        waited.unwind_if_cancelled();
        self.must_be_done();
        true
    }

    /// As [`wait`](Self::wait), until `deadline` at most (`None`: without end), and a cancellation is
    /// returned.
    #[cold]
    pub(crate) fn wait_until(&self, whom: *const (), deadline: Option<Instant>) -> Ended {
        self.forget_future();
        match wait::wait(join_of(whom), deadline, |me| self.register(me), |me| self.unregister(me)) {
            Waited::Refused => Ended::Unwinding,
            Waited::Left(Early::TimedOut) => Ended::TimedOut,
            waited if waited.is_cancelled() => Ended::Cancelled,
            _ => {
                self.must_be_done();
                Ended::Done
            }
        }
    }

    /// After the wait: checks that there is an outcome. The Acquire load in `is_done` makes it visible to the
    /// caller.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn must_be_done(&self) {
        if !self.is_done() {
            crate::bug::bug!("a joiner was woken before there was an outcome");
        }
    }

    /// As [`wait`](Self::wait), but only the outcome ends the wait. A caller that must not switch blocks its
    /// kernel thread.
    pub(crate) fn wait_committed(&self, whom: *const ()) {
        self.forget_future();
        wait::wait_committed(join_of(whom), |me| self.register(me));
        self.must_be_done();
    }
}

/// The joiner as a future.
impl Completion {
    /// Handle: true once the outcome can be read; otherwise registers the waker of `cx`, to be called then.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn poll(&self, cx: &Context<'_>) -> bool {
        if self.is_done() { !super::gives_way(cx) } else { self.poll_later(cx) }
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
            // SAFETY: the word was taken back, so this is its only copy.
            unsafe { old.forget() };
        }
        let waiter = Waiter::of(cx, Wait::Join.into()).keep();
        if self.register(waiter) {
            return false;
        }
        // SAFETY: the word was not registered, so this is its only copy.
        unsafe { waiter.forget() };
        true
    }
}
