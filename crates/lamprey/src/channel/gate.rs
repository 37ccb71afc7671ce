//! A monitor for channels: a state, two wait queues, and one lock for all of them.
//!
//! Waiting works as in a Mesa monitor: an operation tries under the lock, and if it cannot be done it queues
//! its node in the same section and blocks; woken, it tries again ([`wait`] for threads, [`future`] for
//! futures, [`node`] what they queue). A wake carries a **grant**: a unit (a value, a free slot) stays in the
//! state, reserved for the waiter. Operations that arrive later leave granted units alone, so they cannot
//! overtake a waiter. A waiter that leaves with a grant passes it to the next waiter, so no unit is lost.
//!
//! A thread may instead wait with a **slot** (as Go's `sudog`): the operation that would grant it a unit does
//! its operation for it, and the woken thread returns without a second section. Nothing is reserved
//! meanwhile, so those that run use all of the buffer before they block.
//!
//! # States
//! The lock's states are those of [`Guarded`]: a section works on the state, the queues and the linked nodes;
//! its pending wakes are delivered after it ends. A node is NEW, LINKED (waiter set), or unlinked again: by
//! its owner, GRANTED (it has a unit), DONE (its operation has been done through the slot), or RELEASED by
//! `wake_all`.
//!
//! # Invariants
//! 1. A section runs no user code: it drops and clones no `T`, calls no waker, and does not switch. Values to
//!    drop and waiters to wake are carried out of it.
//! 2. While a node is queued, every unit that it waits for has been granted: a section that adds a unit or
//!    declines a grant grants it to the first waiter in the queue ([`Section::offer`]).
//! 3. A parasite is notified **within** the section that takes its node out. While the node is queued its
//!    future cannot be dropped without the lock, and the parasite not before its future, so it is alive
//!    during the notification. After that the [`Delivery`](crate::sched::parasite::notify::Delivery) keeps
//!    alive what it needs.
//! 4. A thread is woken after the section, and does not return from its wait without that wake
//!    ([`sched::block`](crate::sched::block), invariant 1; [`sched::wait`](crate::sched::wait)).
//! 5. `wake_all` terminates: in sections of a few nodes each, it takes out only nodes that were queued before
//!    the increment of `round`. Those of them that were queued after the marking section have seen the new
//!    state, and only try once more.
//! 6. An operation that is DONE has happened, also if its owner was cancelled or timed out meanwhile. The
//!    owner reads the slot after its wake only.
//!
//! # Who may touch what
//! The state, the queues, and all fields of nodes that are or were queued: the section. A node that was never
//! queued: its owner. A slot: sections while its node is linked, before and after that its owner.
//!
//! # Orderings
//! A section synchronises with all earlier ones ([`Guarded`]). A slot is published by the wake.
//!
//! # Rejected
//! * Slots for futures: a dropped future must then put the value back at its old position, differently in
//!   each kind of channel, or take back a value that was sent. Their values stay in the state.
//! * Granting only: each of 40 producers and 40 consumers of 50 places had one place or value reserved, and
//!   blocked for each item.
//! * Waking without a grant: running threads overtake the waiter, in an `MVar` for ever.
//! * Another state of a node (HELD, [`wait_node`](super::rendezvous::wait_node)): needed only if a CAS, not a
//!   lock, takes nodes out.
//!
//! # Checked by
//! `model::gate` (loom, with broken variants), `tests/channel/family.rs`.

mod ends;
mod future;
mod node;
mod sender;
mod wait;
mod weak;

pub(crate) use future::{GateFuture, Op, named_future, opaque};
pub(crate) use sender::{closes, sender};
pub(crate) use wait::Interrupted;
pub(super) use wait::or_cancelled;
pub(crate) use weak::weak;

use crate::queue::guarded::Guarded;
use crate::queue::list::{List, Node};
use crate::sched::Wait;
use crate::sched::made::Counted;
use crate::sched::parasite::task::Form;
use crate::sync_shim::{const_fn, left_out};
use node::GateWaiter;
pub(crate) use node::PendingWake;
use std::mem::offset_of;
use std::panic::Location;
use std::ptr::NonNull;

/// A state, its two wait queues, and the lock around them.
pub(crate) struct Gate<S> {
    guarded: Guarded<Inner<S>>,
    counted: Counted,
}

struct Inner<S> {
    state: S,
    queues: [Queue; 2],
}

struct Queue {
    list: List<GateWaiter>,
    /// Units that have been granted and not yet been used or declined.
    granted: usize,
    /// The number of `wake_all` calls so far.
    round: u32,
}

/// The queue and position where an operation waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitSpec {
    pub(crate) queue: usize,
    /// Queue in front of all other waiters.
    pub(crate) in_front: bool,
    pub(crate) reason: Wait,
}

impl WaitSpec {
    pub(crate) const fn new(queue: usize, reason: Wait) -> Self {
        Self { queue, in_front: false, reason }
    }
}

// SAFETY: only one kernel thread at a time, the holder of the lock, reaches the state; other threads take
// only waiters out of nodes.
unsafe impl<S: Send> Send for Gate<S> {}
// SAFETY: shared access to the state is serialised by the lock, so `S: Send` is enough.
unsafe impl<S: Send> Sync for Gate<S> {}

// A section runs no user code (invariant 1), so it does not unwind and leave the state half changed.
impl<S> std::panic::UnwindSafe for Gate<S> {}
impl<S> std::panic::RefUnwindSafe for Gate<S> {}

impl<S> Gate<S> {
    const_fn! {
        #[track_caller]
        pub(crate) const fn new(state: S) -> Self {
            Self::with_ends(state, Counted::without_ends(Location::caller(), offset_of!(Self, counted)))
        }
    }

    const_fn! {
        const fn with_ends(state: S, counted: Counted) -> Self {
            let queues = [const { Queue::new() }; 2];
            Self { guarded: Guarded::new(Inner { state, queues }), counted }
        }
    }

    /// Runs `section` under the lock, and then delivers its pending wakes. `section` runs no user code
    /// (invariant 1).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with<R>(&self, section: impl FnOnce(&mut Section<'_, S>) -> R) -> R {
        self.with_form(Form::AsTask, section)
    }

    /// [`with`](Self::with), with the form in which parasites are woken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_form<R>(&self, form: Form, section: impl FnOnce(&mut Section<'_, S>) -> R) -> R {
        // Out parameters: copying a result struct right after its fields were stored defeats store
        // forwarding.
        let (mut pending_wake, mut all) = (None, 0);
        let mut inner = self.guarded.enter();
        let result = section(&mut inner.value().section(&self.counted, &mut pending_wake, &mut all));
        drop(inner);
        self.pay(pending_wake, all, form);
        result
    }

    /// [`with`](Self::with) for the first try of a future: inlined, whatever its size and however many callers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt<F: Op<S>>(&self, op: &mut F) -> Option<F::Output> {
        let (mut pending_wake, mut all) = (None, 0);
        let mut inner = self.guarded.enter();
        let result = op.attempt(&mut inner.value().section(&self.counted, &mut pending_wake, &mut all));
        drop(inner);
        self.pay(pending_wake, all, Form::AsTask);
        result
    }

    /// Delivers what a section owes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pay(&self, pending_wake: Option<PendingWake>, all: u8, form: Form) {
        if let Some(pending_wake) = pending_wake {
            pending_wake.deliver(form);
        }
        if all != 0 {
            self.wake_rounds(all);
        }
    }

    /// Wakes all waiters of the queues whose bits are set. Wakes that run user code come last, because that
    /// code may wait for one of the other waiters.
    #[cold]
    #[inline(never)]
    fn wake_rounds(&self, queues: u8) {
        let mut last = Vec::new();
        for queue in (0..2).filter(|queue| queues & (1 << queue) != 0) {
            let round = self.guarded.with(|inner| {
                inner.queues[queue].round = inner.queues[queue].round.wrapping_add(1);
                inner.queues[queue].round
            });
            loop {
                let mut pending_wake = [const { None }; 16];
                self.guarded.with(|inner| {
                    for place in &mut pending_wake {
                        *place = inner.queues[queue].take_of_before(round);
                    }
                });
                let is_last = pending_wake[15].is_none();
                for pending_wake in pending_wake.into_iter().flatten() {
                    if pending_wake.runs_code() {
                        last.push(pending_wake)
                    } else {
                        pending_wake.deliver(Form::Soon)
                    }
                }
                if is_last {
                    break;
                }
            }
        }
        last.into_iter().for_each(|pending_wake| pending_wake.deliver(Form::Soon));
    }
}

impl<S> Inner<S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn section<'a>(
        &'a mut self,
        counted: &'a Counted,
        pending_wake: &'a mut Option<PendingWake>,
        all: &'a mut u8,
    ) -> Section<'a, S> {
        Section { state: &mut self.state, queues: &mut self.queues, counted, pending_wake, all }
    }
}

impl Queue {
    const fn new() -> Self {
        Self { list: List::new(), granted: 0, round: 0 }
    }

    /// Grants a unit to the first waiter and takes it out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn grant(&mut self) -> Option<PendingWake> {
        let node = self.list.pop()?;
        self.granted += 1;
        // SAFETY: it was linked, so its owner is blocked or cannot be dropped without the lock, which is
        // held.
        let waiting = unsafe { &node.as_ref().value };
        waiting.granted.set(1);
        Some(waiting.take())
    }

    /// Takes the first waiter out, if it was queued before `round`.
    fn take_of_before(&mut self, round: u32) -> Option<PendingWake> {
        let node = self.list.pop()?;
        // SAFETY: it was linked, so its owner is blocked or cannot be dropped without the lock, which is
        // held.
        let waiting = unsafe { &node.as_ref().value };
        if waiting.round.get().wrapping_sub(round).cast_signed() < 0 {
            return Some(waiting.take());
        }
        // SAFETY: it was linked until just now, and the lock is held.
        unsafe { self.list.push_front(node) };
        None
    }
}

/// The content of the gate, in a section.
pub(crate) struct Section<'a, S> {
    pub(crate) state: &'a mut S,
    queues: &'a mut [Queue; 2],
    counted: &'a Counted,
    pending_wake: &'a mut Option<PendingWake>,
    /// One bit for each queue.
    all: &'a mut u8,
}

impl<S> Section<'_, S> {
    /// The number of units of `queue` that are reserved for waiters that have been woken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn reserved(&self, queue: usize) -> usize {
        self.queues[queue].granted
    }

    /// `queue` has `units` now: grants one to its first waiter if not all are reserved. At most once in a
    /// section, because an operation adds at most one unit.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn offer(&mut self, queue: usize, units: usize) {
        if units > self.queues[queue].granted {
            self.grant(queue);
        }
    }

    /// Takes out the first waiter of `queue` if it waits with a slot, and returns the slot: the section does
    /// that waiter's operation with it. Otherwise `None`, and the waiter is to be [offered](Self::offer) a
    /// unit. At most one of the two in a section, once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn hand_over(&mut self, queue: usize) -> Option<NonNull<()>> {
        let list = &self.queues[queue].list;
        // SAFETY: linked, so its owner is blocked or cannot be dropped without the lock, which is held.
        let waiting = unsafe { &list.first()?.as_ref().value };
        let slot = NonNull::new(waiting.slot.cast_mut())?;
        list.pop();
        debug_assert!(self.pending_wake.is_none(), "two are woken by one section");
        *self.pending_wake = Some(waiting.take());
        Some(slot)
    }

    /// True if a thread or future is queued in `queue`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_waited(&self, queue: usize) -> bool {
        !self.queues[queue].list.is_empty()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn grant(&mut self, queue: usize) {
        debug_assert!(self.pending_wake.is_none(), "two grants in one section");
        *self.pending_wake = self.queues[queue].grant();
    }

    fn owes_nothing(&self) -> bool {
        self.pending_wake.is_none() && *self.all == 0
    }

    /// Marks all waiters of `queue` to be woken after the section. A waiter that is queued in front in the
    /// meantime hides those behind it, so this is only for queues without grants, and for states in which no
    /// operation queues there any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wake_all(&mut self, queue: usize) {
        if self.is_waited(queue) {
            *self.all |= 1 << queue;
        }
    }

    /// # Safety
    /// The node is unlinked, has its waiter, and does not move until it has been taken out. `place.queue`
    /// does not change while it is linked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn push(&mut self, place: WaitSpec, node: NonNull<Node<GateWaiter>>) {
        let queue = &mut self.queues[place.queue];
        // SAFETY: as promised by the caller; the lock is held.
        unsafe {
            node.as_ref().value.round.set(queue.round);
            if place.in_front { queue.list.push_front(node) } else { queue.list.push(node) }
        }
    }

    /// Takes the node out; false if it was not queued any more.
    ///
    /// # Safety
    /// If it is linked, then in this queue.
    unsafe fn leave(&mut self, place: WaitSpec, node: &Node<GateWaiter>) -> bool {
        // SAFETY: as promised by the caller; the lock is held.
        unsafe { self.queues[place.queue].list.remove(NonNull::from(node)) }
    }

    /// Consumes the grant of the node's owner, if it has one: the next operation that tries may take the
    /// unit. Returns whether it had one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn accept(&mut self, place: WaitSpec, node: &Node<GateWaiter>) -> bool {
        let granted = node.value.granted.replace(0) != 0;
        if granted {
            self.queues[place.queue].granted -= 1;
        }
        granted
    }

    /// The node's owner leaves: passes its grant, if it has one, to the next waiter.
    fn decline(&mut self, place: WaitSpec, node: &Node<GateWaiter>) {
        let granted = self.accept(place, node);
        if left_out!(GateDecline) {
            return;
        }
        if granted {
            self.grant(place.queue);
        }
    }
}
