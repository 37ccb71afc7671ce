//! The wait node of a [`Gate`](super::Gate), and the pending wake of a node that has been taken out.
//!
//! Invariant: the fields of a node that is or was queued are accessed only in sections. A queued node has a
//! waiter exactly while it is linked.

use crate::queue::list::Node;
use crate::sched::parasite::notify::Delivery;
use crate::sched::parasite::task::{Form, Task};
use crate::sched::{Waiter, Who, wake_thread};
#[cfg(loom)]
use crate::sync_shim::left_out;
use std::cell::Cell;
use std::task::Context;

/// The content of a wait node.
pub(super) struct GateWaiter {
    pub(super) waiter: Cell<Option<Waiter>>,
    /// Where an operation of another thread puts this one's result, or finds its value, instead of granting
    /// it a unit; null if it must be granted one. The owner keeps it valid while the node is linked.
    pub(super) slot: *const (),
    /// Not 0 if a unit is reserved for it. A word: with a byte here, stores into a future are followed by wider loads of a
    /// copy, which wait for them (20 ns for a message through `bounded`).
    pub(super) granted: Cell<u32>,
    /// The queue's `round` when it was queued.
    pub(super) round: Cell<u32>,
}

/// A pending wake, to be delivered after the section.
pub(crate) enum PendingWake {
    /// A thread or a foreign waker.
    Waiter(Waiter),
    /// A parasite that has been notified.
    Task(Delivery),
    /// The broken variant: a parasite that has not been notified yet.
    #[cfg(loom)]
    Late(Waiter),
}

impl GateWaiter {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn node(waiter: Option<Waiter>, slot: *const ()) -> Node<Self> {
        Node::new(Self { waiter: Cell::new(waiter), slot, granted: Cell::new(0), round: Cell::new(0) })
    }

    /// The wake of a node that was just taken out, in the same section.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take(&self) -> PendingWake {
        let Some(waiter) = self.waiter.take() else { crate::bug::bug!("a node without a waiter was queued") };
        #[cfg(loom)]
        if left_out!(GateNotify) && matches!(waiter.who(), Who::Task(_)) {
            return PendingWake::Late(waiter);
        }
        match waiter.as_task() {
            // SAFETY: alive: its future needs the lock to be dropped, and has not had it since the node was
            // linked (gate, invariant 3).
            Some(task) => PendingWake::Task(unsafe { Task::notify(task) }),
            None => PendingWake::Waiter(waiter),
        }
    }

    /// True if the node's waiter wakes a future that is polled in `cx`. The node is linked.
    pub(super) fn would_wake(&self, cx: &Context<'_>) -> bool {
        self.waiter.get().is_some_and(|waiter| match waiter.who() {
            // SAFETY: the linked node owns the waker's box; the comparison runs no user code.
            Who::Foreign(waker) => unsafe { waker.as_ref() }.will_wake(cx.waker()),
            _ => waiter.is_of(cx),
        })
    }
}

impl PendingWake {
    /// True if [`deliver`](Self::deliver) would run user code, even in [`Form::Soon`].
    pub(crate) fn runs_code(&self) -> bool {
        match self {
            Self::Waiter(waiter) => waiter.is_foreign(),
            Self::Task(delivery) => delivery.runs_code(),
            #[cfg(loom)]
            Self::Late(_) => false,
        }
    }

    /// Delivers the wake. The caller must hold nothing of the gate: this may run any code, or switch.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn deliver(self, form: Form) {
        match self {
            Self::Waiter(waiter) => match waiter.as_thread() {
                // SAFETY: taken out of its node, once; the thread waits for this wake.
                Some(thread) => unsafe { wake_thread(thread, form) },
                // SAFETY: taken out of its node, once, with the waker that the node owned.
                None => unsafe { waiter.run_kept(form) },
            },
            Self::Task(delivery) => delivery.deliver(form),
            #[cfg(loom)]
            // SAFETY: none; this is the broken variant, and the model must find the fault.
            Self::Late(waiter) => unsafe { waiter.wake() },
        }
    }
}

/// Frees a waiter that was not used.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn forget(waiter: Option<Waiter>) {
    if let Some(waiter) = waiter {
        // SAFETY: taken out of its node, or never stored there.
        unsafe { waiter.forget_of_node() };
    }
}
