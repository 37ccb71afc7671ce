//! How futures wait at a [`Gate`](super::Gate).
//!
//! # Invariants
//! 1. The node is pinned with the future. `is_queued` is set before the node is linked for the first time,
//!    and from then on the future is dropped only with the lock.
//! 2. The result of an operation stays in the state until the poll that returns it, so a dropped future has
//!    taken nothing. A grant that it has goes to the next waiter.

use super::node::{GateWaiter, forget};
use super::{Gate, Section, WaitSpec};
use crate::queue::list::Node;
use crate::sched::parasite::task::Form;
use crate::sched::{self, On, Wait, Waiter, coop};
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
    place: WaitSpec,
    is_queued: bool,
    node: Node<GateWaiter>,
    _pinned: PhantomPinned,
}

// SAFETY: other kernel threads access the node only under the gate's lock.
unsafe impl<S: Send, F: Send> Send for GateFuture<'_, S, F> {}
// SAFETY: a shared reference to this future gives no access to its fields.
unsafe impl<S: Send, F: Send> Sync for GateFuture<'_, S, F> {}

/// The operation of a future: a section that returns `None` until it succeeds, and is tried again after each
/// wake. A named type instead of a closure, so that the future has a name ([`named_future`]).
pub(crate) trait Op<S> {
    type Output;

    fn attempt(&mut self, section: &mut Section<'_, S>) -> Option<Self::Output>;

    /// What it waits for, for who looks at the thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on(&self, reason: Wait, gate: &Gate<S>) -> On {
        reason.on_counted(&gate.counted)
    }
}

/// The result of checking the node in a later poll.
enum Look<R> {
    Ready(R),
    /// The node is queued with this waker.
    Waits,
    /// The node is not queued, or is queued with another waker.
    Waker,
}

impl<S> Gate<S> {
    /// The async form of [`wait`](Self::wait).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn future<F: Op<S>>(&self, place: WaitSpec, op: F) -> GateFuture<'_, S, F> {
        GateFuture {
            gate: Some(self),
            op,
            place,
            is_queued: false,
            node: GateWaiter::node(None, std::ptr::null()),
            _pinned: PhantomPinned,
        }
    }
}

impl<S, F> GateFuture<'_, S, F> {
    /// The operation, which is not pinned.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn op(self: Pin<&mut Self>) -> &mut F {
        // SAFETY: only the node is pinned, and it is not moved.
        &mut unsafe { self.get_unchecked_mut() }.op
    }

    /// Runs `attempt`, a fast path without the lock, unless the future is queued or has returned. If it
    /// succeeds, the future has returned.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn try_first<R>(self: Pin<&mut Self>, attempt: impl FnOnce(&mut F) -> Option<R>) -> Option<R> {
        // SAFETY: only the node is pinned, and it is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if this.is_queued || this.gate.is_none() {
            return None;
        }
        let result = attempt(&mut this.op)?;
        this.gate = None;
        Some(result)
    }
}

impl<S, F: Op<S>> GateFuture<'_, S, F> {
    /// First poll: the node is not queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn arrive(&mut self, gate: &Gate<S>, cx: &Context<'_>) -> Poll<F::Output> {
        if sched::gives_way(cx) {
            return Poll::Pending;
        }
        match gate.attempt(&mut self.op) {
            Some(result) => Poll::Ready(result),
            None => self.queue(gate, cx),
        }
    }

    /// Later poll: the node has been queued, and may have been taken out since.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn look(&mut self, gate: &Gate<S>, cx: &Context<'_>) -> Poll<F::Output> {
        let look = gate.with(|section| {
            if self.node.is_linked() {
                return if self.node.value.would_wake(cx) { Look::Waits } else { Look::Waker };
            }
            self.place.in_front |= section.accept(self.place, &self.node);
            self.op.attempt(section).map_or(Look::Waker, Look::Ready)
        });
        match look {
            Look::Ready(result) => Poll::Ready(result),
            Look::Waits => {
                coop::look_by_poll(cx);
                Poll::Pending
            }
            Look::Waker => self.queue(gate, cx),
        }
    }

    /// Queues the node with the waker of `cx`, unless the operation can be done now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn queue(&mut self, gate: &Gate<S>, cx: &Context<'_>) -> Poll<F::Output> {
        let on = self.op.on(self.place.reason, gate);
        let waiter = Waiter::of_node(cx, (&raw const self.node).addr(), on);
        self.is_queued = true;
        let node = &self.node;
        let (result, unused) = gate.with(|section| {
            if node.is_linked() {
                return (None, node.value.waiter.replace(Some(waiter)));
            }
            section.accept(self.place, node);
            let result = if left_out!(GateRetry) { None } else { self.op.attempt(section) };
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

impl<S, F: Op<S>> Future for GateFuture<'_, S, F> {
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: only the node is pinned, and it is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(gate) = this.gate else { polled_again() };
        let result =
            std::task::ready!(if this.is_queued { this.look(gate, cx) } else { this.arrive(gate, cx) });
        this.gate = None;
        Poll::Ready(result)
    }
}

impl<S, F> GateFuture<'_, S, F> {
    /// Takes the node out of the queue, and passes on a grant that it has.
    #[inline(never)]
    fn leave(&self, gate: &Gate<S>) {
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

impl<S, F> Drop for GateFuture<'_, S, F> {
    /// Short, because a choice drops a future for each of its branches, and most were never queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(gate) = self.gate.filter(|_| self.is_queued) {
            self.leave(gate);
        }
    }
}

/// Declares a public future type for an operation of a gate. `$map` converts the operation's output.
macro_rules! named_future {
    (
        $(#[$meta:meta])*
        $name:ident<$life:lifetime $(, $of:ident $(: $bound:path)?)?>($state:ty, $op:ty)
            -> $output:ty $(, $map:expr)?
    ) => {
        $(#[$meta])*
        #[must_use = "a future does nothing until it is awaited"]
        pub struct $name<$life $(, $of)?>(crate::channel::gate::GateFuture<$life, $state, $op>);

        impl<$life $(, $of $(: $bound)?)?> std::future::Future for $name<$life $(, $of)?> {
            type Output = $output;

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<$output> {
                // SAFETY: the field is pinned with the whole: nothing moves it out, and there is no `Drop`.
                let polled = unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx);
                $(let polled = polled.map($map);)?
                polled
            }
        }

        crate::channel::gate::opaque!($name<$life $(, $of)?>);
    };
}
pub(crate) use named_future;

/// Implements `Debug` of a future: its name.
macro_rules! opaque {
    ($name:ident<$($of:tt),+>) => {
        impl<$($of),+> std::fmt::Debug for $name<$($of),+> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}
pub(crate) use opaque;
