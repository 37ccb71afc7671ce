//! Waiting of futures at a [`Gate`](super::Gate).
//!
//! # Invariants
//! 1. The node is pinned with the future. `is_queued` is set before the node is linked for the first time,
//!    and from then on the future is dropped only with the lock.
//! 2. The result of an operation stays in the state until the poll that returns it, so a dropped future has
//!    taken nothing. A grant that it has goes to the next waiter.

use super::node::{Waiting, forget};
use super::{Gate, Place, Section};
use crate::queue::list::Node;
use crate::sched::parasite::task::Form;
use crate::sched::{self, Waiter};
use crate::sync_shim::left_out;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// An operation as a future: the async form of [`Gate::wait`].
#[must_use = "a future does nothing until it is awaited"]
pub(crate) struct GateFuture<'a, S, F> {
    /// `None` once the future has returned its result.
    gate: Option<&'a Gate<S>>,
    op: F,
    place: Place,
    is_queued: bool,
    node: Node<Waiting>,
    _pinned: PhantomPinned,
}

// SAFETY: the node is reached by other kernel threads under the gate's lock only.
unsafe impl<S: Send, F: Send> Send for GateFuture<'_, S, F> {}
// SAFETY: a shared reference to this future gives access to nothing.
unsafe impl<S: Send, F: Send> Sync for GateFuture<'_, S, F> {}

/// The result of looking at the node.
enum Look<R> {
    Ready(R),
    /// It waits with this waker.
    Waits,
    /// It does not wait, or waits with another waker.
    Waker,
}

impl<S> Gate<S> {
    /// Does `op` as [`wait`](Self::wait) does, for async code.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn future<R, F>(&self, place: Place, op: F) -> GateFuture<'_, S, F>
    where
        F: FnMut(&mut Section<'_, S>) -> Option<R>,
    {
        GateFuture {
            gate: Some(self),
            op,
            place,
            is_queued: false,
            node: Waiting::node(None),
            _pinned: PhantomPinned,
        }
    }
}

impl<S, R, F: FnMut(&mut Section<'_, S>) -> Option<R>> GateFuture<'_, S, F> {
    /// First poll: not queued yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn arrive(&mut self, gate: &Gate<S>, cx: &Context<'_>) -> Poll<R> {
        if sched::gives_way(cx) {
            return Poll::Pending;
        }
        match gate.with(&mut self.op) {
            Some(result) => Poll::Ready(result),
            None => self.queue(gate, cx),
        }
    }

    /// Later poll: the node has been queued, and may have been taken out since.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn look(&mut self, gate: &Gate<S>, cx: &Context<'_>) -> Poll<R> {
        let look = gate.with(|section| {
            if self.node.is_linked() {
                return if self.node.value.would_wake(cx) { Look::Waits } else { Look::Waker };
            }
            self.place.in_front |= section.accept(self.place, &self.node);
            (self.op)(section).map_or(Look::Waker, Look::Ready)
        });
        match look {
            Look::Ready(result) => Poll::Ready(result),
            Look::Waits => Poll::Pending,
            Look::Waker => self.queue(gate, cx),
        }
    }

    /// Queues the node with the waker of `cx`, unless the operation can be done now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn queue(&mut self, gate: &Gate<S>, cx: &Context<'_>) -> Poll<R> {
        let waiter = Waiter::of_node(cx, (&raw const self.node).addr(), self.place.reason);
        self.is_queued = true;
        let node = &self.node;
        let (result, unused) = gate.with(|section| {
            if node.is_linked() {
                return (None, node.value.waiter.replace(Some(waiter)));
            }
            section.accept(self.place, node);
            let result = if left_out!(GateRetry) { None } else { (self.op)(section) };
            if result.is_some() {
                return (result, Some(waiter));
            }
            node.value.waiter.set(Some(waiter));
            // SAFETY: unlinked and pinned; taken out before the future is dropped.
            unsafe { section.push(self.place, NonNull::from(node)) };
            (None, None)
        });
        forget(unused);
        result.map_or(Poll::Pending, Poll::Ready)
    }
}

#[cold]
fn polled_again() -> ! {
    panic!("a future of a channel was polled after it had returned")
}

impl<S, R, F: FnMut(&mut Section<'_, S>) -> Option<R>> Future for GateFuture<'_, S, F> {
    type Output = R;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        // SAFETY: only the node is pinned, and it is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(gate) = this.gate else { polled_again() };
        let result =
            std::task::ready!(if this.is_queued { this.look(gate, cx) } else { this.arrive(gate, cx) });
        this.gate = None;
        Poll::Ready(result)
    }
}

impl<S, F> Drop for GateFuture<'_, S, F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(gate) = self.gate.filter(|_| self.is_queued) {
            let waiter = gate.with_form(Form::Soon, |section| {
                // SAFETY: queued by this future at this place.
                if unsafe { section.leave(self.place, &self.node) } {
                    return self.node.value.waiter.take();
                }
                section.decline(self.place, &self.node);
                None
            });
            forget(waiter);
        }
    }
}
