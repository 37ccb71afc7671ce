//! What every channel with a state of its own is built from: a state, two queues of those that wait for it,
//! and a lock around both.
//!
//! Waiting is as on a monitor of Mesa: an operation tries under the lock, and if it cannot be done it queues
//! its node in the same section and blocks; woken, it tries again ([`wait`] for threads, [`future`] for
//! futures, [`node`] what they queue). What wakes it is a **grant**: a unit (a value, a free place) that
//! stays in the state, reserved for it. Who arrives later leaves as many units alone as have been granted, so
//! nobody is overtaken; and a waiter that goes away with a grant hands it to the next, so nothing is lost.
//!
//! # States
//! Those of [`Guarded`]: a section works on the state, the queues and the nodes that are linked in them;
//! after its end the wakes that it owes are delivered. A node: NEW, LINKED (waiter set), and unlinked again:
//! by its owner, GRANTED (it has a unit), or RELEASED by `wake_all`.
//!
//! # Invariants
//! 1. A section runs no code of the program: it drops and clones no `T`, calls no waker, and does not switch.
//!    What is to be dropped or woken is carried out of it.
//! 2. While a node is queued, no unit that it waits for is there that has not been granted: whoever adds a
//!    unit, or declines a grant, grants it to the first in the queue ([`Section::offer`]).
//! 3. A parasite is notified **within** the section that takes its node out. Its future cannot be dropped
//!    without the lock while it is queued, and the parasite not before its future, so it is alive for the
//!    notification. After that the [`Delivery`](crate::sched::parasite::notify::Delivery) keeps alive what it
//!    needs.
//! 4. A thread is woken after the section; it may not return from its wait without that wake
//!    ([`sched::block`](crate::sched::block), invariant 1; [`sched::wait`](crate::sched::wait)).
//! 5. `wake_all` ends: it takes out only those who were queued before it began (`round`), or a moment later,
//!    who have seen the state that they are woken for, in sections of a few nodes each.
//!
//! # Who may touch what
//! State, queues and all fields of nodes that are or were queued: the section. A node that was never queued:
//! its owner.
//!
//! # Orderings
//! A section sees all that earlier ones did ([`Guarded`]).
//!
//! # Rejected
//! * Handing the value over in the waiter's node, as the rendezvous does: a future that is dropped then has
//!   to put it back, in its old place, in each kind. Here it never leaves the state.
//! * Waking without a grant: who waits is overtaken by who runs, in an `MVar` for ever.
//! * A second state of a node (HELD, [`party`](super::party)): needed where nodes are taken by a CAS, not
//!   under a lock.
//!
//! # Checked by
//! `model::gate` (loom, with broken variants), `tests/channel/family.rs`.

mod future;
mod node;
mod sender;
mod wait;

pub(crate) use sender::sender;
pub(crate) use wait::Interrupted;
pub(super) use wait::or_cancelled;

use crate::queue::guarded::Guarded;
use crate::queue::list::{List, Node};
use crate::sched::Wait;
use crate::sched::parasite::task::Form;
use crate::sync_shim::left_out;
pub(crate) use node::Owed;
use node::Waiting;
use std::ptr::NonNull;

/// See the module's text.
pub(crate) struct Gate<S>(Guarded<Inner<S>>);

struct Inner<S> {
    state: S,
    queues: [Queue; 2],
}

struct Queue {
    list: List<Waiting>,
    /// Units that have been granted and not yet been used or declined.
    granted: usize,
    /// How often all have been woken.
    round: u32,
}

/// Where an operation waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) queue: usize,
    /// Before all others.
    pub(crate) in_front: bool,
    pub(crate) reason: Wait,
}

impl Place {
    pub(crate) const fn new(queue: usize, reason: Wait) -> Self {
        Self { queue, in_front: false, reason }
    }
}

// SAFETY: the state moves and is reached under the lock, by one kernel thread at a time; of the nodes others
// take waiters.
unsafe impl<S: Send> Send for Gate<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Sync for Gate<S> {}

// A section does not unwind (invariant 1), so a panic of the program never leaves the state half changed.
impl<S> std::panic::UnwindSafe for Gate<S> {}
impl<S> std::panic::RefUnwindSafe for Gate<S> {}

impl<S> Gate<S> {
    /// An atomic of the checker cannot be made at compile time.
    #[cfg(loom)]
    pub(crate) fn new(state: S) -> Self {
        Self(Guarded::new(Inner { state, queues: [const { Queue::new() }; 2] }))
    }

    #[cfg(not(loom))]
    pub(crate) const fn new(state: S) -> Self {
        Self(Guarded::new(Inner { state, queues: [const { Queue::new() }; 2] }))
    }

    /// Runs `section` under the lock, and then gives the wakes that it owes. It runs no code of the program
    /// (invariant 1).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with<R>(&self, section: impl FnOnce(&mut Section<'_, S>) -> R) -> R {
        self.with_form(Form::AsTask, section)
    }

    /// [`with`](Self::with), where parasites are woken in a form of choice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_form<R>(&self, form: Form, section: impl FnOnce(&mut Section<'_, S>) -> R) -> R {
        // In place: what is put together in a section and copied out of it waits for its own stores.
        let (mut owed, mut all) = (None, 0);
        let result = self.0.with(|inner| {
            section(&mut Section {
                state: &mut inner.state,
                queues: &mut inner.queues,
                owed: &mut owed,
                all: &mut all,
            })
        });
        if let Some(owed) = owed {
            owed.deliver(form);
        }
        if all != 0 {
            self.wake_rounds(all);
        }
        result
    }

    /// Wakes all who wait in the queues whose bits are set; those whose wake runs code of the program last,
    /// because that may wait for one of the others.
    #[cold]
    #[inline(never)]
    fn wake_rounds(&self, queues: u8) {
        let mut last = Vec::new();
        for queue in (0..2).filter(|queue| queues & (1 << queue) != 0) {
            let round = self.0.with(|inner| {
                inner.queues[queue].round = inner.queues[queue].round.wrapping_add(1);
                inner.queues[queue].round
            });
            loop {
                let mut owed = [const { None }; 16];
                self.0.with(|inner| {
                    for place in &mut owed {
                        *place = inner.queues[queue].take_of_before(round);
                    }
                });
                let is_last = owed[15].is_none();
                for owed in owed.into_iter().flatten() {
                    if owed.runs_code() { last.push(owed) } else { owed.deliver(Form::Soon) }
                }
                if is_last {
                    break;
                }
            }
        }
        last.into_iter().for_each(|owed| owed.deliver(Form::Soon));
    }
}

impl Queue {
    const fn new() -> Self {
        Self { list: List::new(), granted: 0, round: 0 }
    }

    /// The first, with a grant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn grant(&mut self) -> Option<Owed> {
        let node = self.list.pop()?;
        self.granted += 1;
        // SAFETY: it was linked, so its owner is blocked or cannot be dropped without the lock, which is
        // held.
        let waiting = unsafe { &node.as_ref().value };
        waiting.granted.set(true);
        Some(waiting.take())
    }

    /// The first, if it was queued before `round`.
    fn take_of_before(&mut self, round: u32) -> Option<Owed> {
        let node = self.list.pop()?;
        // SAFETY: as in `grant`.
        let waiting = unsafe { &node.as_ref().value };
        if waiting.round.get().wrapping_sub(round).cast_signed() < 0 {
            return Some(waiting.take());
        }
        // SAFETY: it was linked until just now, and the lock is held.
        unsafe { self.list.push_front(node) };
        None
    }
}

/// What a section works on.
pub(crate) struct Section<'a, S> {
    pub(crate) state: &'a mut S,
    queues: &'a mut [Queue; 2],
    owed: &'a mut Option<Owed>,
    /// A bit for each queue.
    all: &'a mut u8,
}

impl<S> Section<'_, S> {
    /// How many units of `queue` are there for others, who have been woken for them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn reserved(&self, queue: usize) -> usize {
        self.queues[queue].granted
    }

    /// `units` are there now for `queue`: its first waiter gets one if not all are reserved. Once in a
    /// section, because an operation adds one unit at most.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn offer(&mut self, queue: usize, units: usize) {
        if units > self.queues[queue].granted {
            self.grant(queue);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn grant(&mut self, queue: usize) {
        debug_assert!(self.owed.is_none(), "two grants in one section");
        *self.owed = self.queues[queue].grant();
    }

    fn owes_nothing(&self) -> bool {
        self.owed.is_none() && *self.all == 0
    }

    /// All that wait in `queue` are to try again. One that comes in front meanwhile hides those behind it; so
    /// this is for queues without grants, and for states in which nobody waits there any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wake_all(&mut self, queue: usize) {
        if !self.queues[queue].list.is_empty() {
            *self.all |= 1 << queue;
        }
    }

    /// # Safety
    /// The node is unlinked, has its waiter, and stays where it is until it has been taken out. `place` is
    /// always the same.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn push(&mut self, place: Place, node: NonNull<Node<Waiting>>) {
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
    unsafe fn leave(&mut self, place: Place, node: &Node<Waiting>) -> bool {
        // SAFETY: as promised by the caller; the lock is held.
        unsafe { self.queues[place.queue].list.remove(NonNull::from(node)) }
    }

    /// The node's owner takes its grant, if it has one: what was reserved for it is there for whoever tries
    /// next.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn accept(&mut self, place: Place, node: &Node<Waiting>) -> bool {
        let granted = node.value.granted.replace(false);
        if granted {
            self.queues[place.queue].granted -= 1;
        }
        granted
    }

    /// The node's owner goes: a grant that it has is the next one's.
    fn decline(&mut self, place: Place, node: &Node<Waiting>) {
        let granted = self.accept(place, node);
        if left_out!(GateDecline) {
            return;
        }
        if granted {
            self.grant(place.queue);
        }
    }
}
