//! Waiting of threads in a line: hosts, stackful parasites, OS threads.

use super::edit::Batch;
use super::{Line, LockKind, want_of};
use crate::channel::{At, PendingWake, WaitNode};
use crate::sched::parasite::task::Form;
use crate::sched::wait::{self, Entered, Waited};
use crate::sched::{self, On};
use crate::sync_shim::left_out;
use std::mem::MaybeUninit;
use std::time::Instant;

/// The end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum LineEnd<W = u32> {
    /// The caller has what it wanted; this is the last value of `want`.
    Has(W),
    TimedOut,
    /// The caller is unwinding and must not wait.
    Unwinding,
}

impl LineEnd {
    /// Drops the value of `want`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn without_want(self) -> LineEnd<()> {
        match self {
            Self::Has(_) => LineEnd::Has(()),
            Self::TimedOut => LineEnd::TimedOut,
            Self::Unwinding => LineEnd::Unwinding,
        }
    }
}

impl<S: LockKind> Line<S> {
    /// Takes `want`, and waits for it until `deadline` at most.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here and leaves the line unchanged: it passes a grant to the next
    /// waiter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn acquire(&self, want: u32, deadline: Option<Instant>, on: On) -> LineEnd {
        if sched::must_not_block() {
            return self.try_acquire(want).map_or(LineEnd::Unwinding, LineEnd::Has);
        }
        self.acquire_then(want, deadline, on, || None)
    }

    /// [`acquire`](Self::acquire) of a thread that may block. `queued` is called after the thread has been
    /// queued and before it blocks. It must run no user code, which might block too and consume our wake. If
    /// `queued` returns a wake that runs user code, the wake is delivered after the node has left the queue;
    /// the caller then has what it wanted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn acquire_then(
        &self,
        want: u32,
        deadline: Option<Instant>,
        on: On,
        queued: impl FnOnce() -> Option<PendingWake>,
    ) -> LineEnd {
        let mut queued = Some(queued);
        // Called only once: it runs ready parasites, and a parasite that blocks on this line after we have
        // been woken would wait for our next try.
        let me = sched::waiter();
        let node = WaitNode::new(Some(me), MaybeUninit::new(want));
        let mut again = false;
        loop {
            // SAFETY: unlinked; does not move until the wait has ended.
            if unsafe { self.join(node.queued(), again) } {
                // SAFETY: not queued.
                return LineEnd::Has(unsafe { want_of(&node) });
            }
            if let Some(pending_wake) = queued.take().and_then(|queued| queued()) {
                return self.out_of_line(&node, pending_wake, on);
            }
            let mut left = None;
            let leave = || {
                // SAFETY: queued by this thread.
                let (has_left, batch) = unsafe { self.leave_owing(node.queued()) };
                left = Some(batch);
                has_left
            };
            let waited = wait::queued(on, deadline, leave);
            if waited != Waited::Woken {
                return self.after_early(&node, waited, left);
            }
            match node.at() {
                // SAFETY: taken out and ended, so the node is ours.
                At::Met => return LineEnd::Has(unsafe { want_of(&node) }),
                At::Closed => {}
                _ => crate::bug::bug!("a thread was woken although nobody took it out of its line"),
            }
            if self.is_held() {
                self.spin(|| true);
            }
            node.set_waiter(Some(me));
            again = true;
        }
    }

    /// Leaves the queue instead of waiting, and delivers `pending_wake`, which may run user code.
    #[cold]
    #[inline(never)]
    fn out_of_line(&self, node: &WaitNode<u32>, pending_wake: PendingWake, on: On) -> LineEnd {
        // SAFETY: queued by this thread.
        let enter =
            || if unsafe { self.leave(node.queued()) } { Entered::Done } else { Entered::WakePending };
        let _: Waited = wait::wait_again(on, None, enter, || true);
        pending_wake.deliver(Form::AsTask);
        // SAFETY: the node is ours again.
        LineEnd::Has(unsafe { want_of(node) })
    }

    /// The wait ended early; `left` has the pending wakes of `leave`.
    #[cold]
    #[inline(never)]
    fn after_early(&self, node: &WaitNode<u32>, waited: Waited, left: Option<Batch>) -> LineEnd {
        if let Some(batch) = left {
            self.deliver(batch);
        }
        let at = if matches!(waited, Waited::Late(_)) { node.at() } else { At::New };
        // SAFETY: the node is ours again.
        let want = unsafe { want_of(node) };
        if waited.is_cancelled() {
            match at {
                At::Met if !left_out!(LineKeep) => self.release(want),
                At::Closed => self.pass_on(),
                _ => {}
            }
            sched::unwind_cancelled();
        }
        match at {
            At::Met => LineEnd::Has(want),
            At::Closed => self.try_last(want),
            _ => LineEnd::TimedOut,
        }
    }

    /// The last try of a thread that has timed out, but was woken to try again.
    fn try_last(&self, mut want: u32) -> LineEnd {
        let has = self.edit(|edit| {
            edit.woken &= left_out!(LinePass);
            edit.arrive_or_go(&mut want)
        });
        if has { LineEnd::Has(want) } else { LineEnd::TimedOut }
    }
}
