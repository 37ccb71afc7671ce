//! How threads wait at a [`Gate`](super::Gate).

use super::node::GateWaiter;
use super::{Gate, Section, WaitSpec};
use crate::queue::list::Node;
use crate::sched::reason::On;
use crate::sched::wait::{self, Early, Waited};
use crate::sched::{self, coop};
use crate::sync_shim::left_out;
use std::ptr::{self, NonNull};
use std::time::Instant;

/// Why an operation was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    TimedOut,
    /// The caller unwinds and must not block.
    Unwinding,
}

impl<S> Gate<S> {
    /// Runs the section `op`, which returns `None` if it must be tried again; waits at `place` until it
    /// succeeds.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here and leaves the gate unchanged.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wait<R>(
        &self,
        place: WaitSpec,
        deadline: Option<Instant>,
        op: impl FnMut(&mut Section<'_, S>) -> Option<R>,
    ) -> Result<R, Interrupted> {
        self.wait_on(place, place.reason.on_counted(&self.counted), deadline, op)
    }

    /// Waits like [`wait`](Self::wait), and tells whoever looks at the thread that it waits for `on`.
    ///
    /// # Cancellation
    /// The same as `wait`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wait_on<R>(
        &self,
        place: WaitSpec,
        on: On,
        deadline: Option<Instant>,
        op: impl FnMut(&mut Section<'_, S>) -> Option<R>,
    ) -> Result<R, Interrupted> {
        self.try_and_wait(place, on, deadline, ptr::null(), op, || None)
    }

    /// As [`wait`](Self::wait), with a slot: an operation of another thread may do this one, by
    /// [`Section::hand_over`], while the caller waits. `done` then returns the result, and is called after
    /// each wait, outside of sections.
    ///
    /// # Cancellation
    /// As for `wait`. What another thread has done has happened: the caller then returns, cancelled or not.
    ///
    /// # Safety
    /// `slot` is null, or valid until this call returns, and what callers of `hand_over` take it for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wait_with_slot<R>(
        &self,
        place: WaitSpec,
        deadline: Option<Instant>,
        slot: *const (),
        op: impl FnMut(&mut Section<'_, S>) -> Option<R>,
        done: impl Fn() -> Option<R>,
    ) -> Result<R, Interrupted> {
        self.try_and_wait(place, place.reason.on_counted(&self.counted), deadline, slot, op, done)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_and_wait<R>(
        &self,
        mut place: WaitSpec,
        on: On,
        deadline: Option<Instant>,
        slot: *const (),
        mut op: impl FnMut(&mut Section<'_, S>) -> Option<R>,
        done: impl Fn() -> Option<R>,
    ) -> Result<R, Interrupted> {
        coop::call(coop::MESSAGE);
        if let Some(result) = self.with(&mut op) {
            return Ok(result);
        }
        loop {
            let (node, mut tried) = (GateWaiter::node(None, slot), None);
            let enter = |me| {
                node.value.waiter.set(Some(me));
                tried = self.try_or_queue(place, &node, &mut op);
                tried.is_none()
            };
            // SAFETY: the node was queued by this thread at this place.
            let leave = |_| self.with(|section| unsafe { section.leave(place, &node) });
            let waited = wait::wait(on, deadline, enter, leave);
            if let (Waited::Done, Some(result)) = (waited, tried) {
                return Ok(result);
            }
            if !(left_out!(GateDone) && waited != Waited::Woken)
                && let Some(result) = done()
            {
                return Ok(result);
            }
            if waited != Waited::Woken {
                self.after_early(place, &node, waited)?;
            }
            let result = self.with(|section| {
                // A waiter whose grant was not enough is queued in front again.
                place.in_front |= section.accept(place, &node);
                op(section)
            });
            match result {
                Some(result) => return Ok(result),
                None if matches!(waited, Waited::Late(_)) => return Err(Interrupted::TimedOut),
                None => {}
            }
        }
    }

    /// Runs `op`, or queues the node in the same section. In that case the section has no pending wake: `op`
    /// has changed nothing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_or_queue<R>(
        &self,
        place: WaitSpec,
        node: &Node<GateWaiter>,
        op: &mut impl FnMut(&mut Section<'_, S>) -> Option<R>,
    ) -> Option<R> {
        self.with(|section| {
            let tried = op(section);
            if tried.is_none() {
                debug_assert!(section.owes_nothing(), "an operation that is to be tried again owes a wake");
                // SAFETY: the node is new and has its waiter; its owner does not return before it is
                // unlinked.
                unsafe { section.push(place, NonNull::from(node)) };
            }
            tried
        })
    }

    /// The wait did not begin or ended early. An error, unless the node had been taken out for a wake. A
    /// cancelled thread unwinds from here.
    #[cold]
    #[inline(never)]
    fn after_early(
        &self,
        place: WaitSpec,
        node: &Node<GateWaiter>,
        waited: Waited,
    ) -> Result<(), Interrupted> {
        match waited {
            Waited::Refused => Err(Interrupted::Unwinding),
            Waited::Left(Early::TimedOut) => Err(Interrupted::TimedOut),
            Waited::Late(Early::TimedOut) => Ok(()),
            _ => {
                self.with(|section| section.decline(place, node));
                sched::unwind_cancelled()
            }
        }
    }
}

/// The result of a thread's operation. An error often means that a runtime was cancelled and ends; if the
/// caller has been cancelled too, it unwinds instead.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(in crate::channel) fn or_cancelled<T, E>(result: Result<T, E>) -> Result<T, E> {
    if result.is_err() && sched::is_cancelled() {
        drop(result);
        sched::unwind_cancelled();
    }
    result
}
