//! How a sender and a receiver find each other: one word, changed in one atomic step.
//!
//! The idea is the paper's (swapstack-taco-2013, 6.1-6.2): the state of the channel lives in the low bits of
//! the pointer to its waiters, so that "nobody is there" and "I wait here" cannot come apart. Differs from
//! the paper in what happens with more than one waiter: those are kept in a list under a bit of the same
//! word, so that a waiter can leave from the middle (timeout, cancellation), and no thread ever reads a node
//! that may be gone.
//!
//! # States (`word`)
//! ```text
//! EMPTY                nobody waits
//! ONE(side, node)      one thread of that side waits; the node is on its stack
//! MANY                 several do; they are in the lists, oldest first
//! CLOSED               one side is gone for good; the senders' list may have values that were handed back, for receivers that
//!                      are left
//! any of them | LOCK   somebody works on the lists, and will store the next state
//! ```
//!
//! # Invariants
//! 1. Two that match do not both wait: who arrives and finds the other side takes its oldest waiter. Both
//!    lists have nodes only while an offer is among them that cannot be met: its choice is decided, or waits
//!    on both sides.
//! 2. A node leaves the word or its list exactly once, by the CAS or under the LOCK. Whoever takes it out
//!    owes its thread the wake and has the node to itself until then ([`sched::block`](crate::sched::block),
//!    invariant 1; [`sched::wait`](crate::sched::wait)). Of an offer, that holds if it has synched the choice
//!    too ([`Choice`](crate::events::protocol::Choice)); if not, it only lets the node go.
//! 3. The value moves by the one who took the node: into it (receiver's) or out of it (sender's). How the
//!    node's owner learns of it, and when the node is the owner's again: [`party`](super::party).
//! 4. CLOSED is final.
//! 5. An offer is looked for in the lists and queued under one LOCK, because it must not take a peer out
//!    before its own choice is synched. Where nobody waits it comes into the word as others do.
//!
//! # Who may touch what
//! The lists and the nodes' links: the holder of LOCK. The rest of a node: its owner until it is queued and
//! after it has left; in between, whoever took it out.
//!
//! # Orderings
//! Every successful change of the word is AcqRel (or the Release store that drops LOCK): it publishes the
//! node that it puts in and sees the nodes that others have put in. Loads are Relaxed guesses that a CAS
//! confirms. The way back (the value) travels with the node's own word.
//!
//! A CAS may succeed although the node went and came back in between (ABA): the node that is in the word is
//! then a waiter all the same, and nothing of it was read before, so nothing can be stale.
//!
//! # Owner bias
//! While one worker alone uses the channel, the same steps are taken by plain loads and stores, in a section
//! of [`bias`](crate::bias): `place` is written once for both. In a section nobody else is here, so no guess
//! fails and LOCK is never seen. It may spin for a choice that is CLAIMED on another kernel thread, which
//! lasts a few instructions and waits for no section (`event::protocol::choice`, invariant 3).
//!
//! # Rejected
//! * A lock around state and queue: 16 ns a message against 13 (measured on a prototype).
//! * The paper's queue as it is: it may read nodes that are gone and recovers by a signal handler; undefined
//!   in Rust.
//!
//! # Checked by
//! `model::channel` (loom: send, recv, timeout, disconnect, three parties), `model::choice` (offers),
//! `tests/channel/rendezvous.rs`, `tests/stress/mixed.rs`.

mod place;
mod waiters;

use self::place::{Atomic, Place, Plain};
use super::party::PartyNode;
use crate::bias::{Access, Bias, Slot};
use crate::events::protocol::Choice;
use crate::sched::Waiter;
use crate::sched::thread::Thread;
use std::ptr::NonNull;

/// The two sides of a channel; the values are the tags in the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Side {
    Sender = 1,
    Receiver = 2,
}

/// What came of an arrival.
pub(super) enum Arrival<T> {
    /// The oldest waiter of the other side: move the value, set `end`, wake it.
    Peer(NonNull<PartyNode<T>>),
    /// As `Peer`, and it is this thread that waits.
    Thread(NonNull<PartyNode<T>>, NonNull<Thread>),
    /// Nobody was there; the node waits now.
    Waiting,
    /// The channel is closed.
    Closed,
}

/// What came of an offer.
pub(super) enum Offering<T> {
    /// The choice is synched with this peer: as [`Arrival::Peer`].
    Peer(NonNull<PartyNode<T>>),
    /// Nobody was there; the node waits now.
    Waiting,
    /// The channel is closed, and the choice synched with that.
    Closed,
    /// Somebody has synched the choice before.
    Lost,
}

impl Side {
    fn other(self) -> Self {
        if self == Side::Sender { Side::Receiver } else { Side::Sender }
    }
}

/// See the module's text.
pub(super) struct Meeting<T>(Place<T>);

// SAFETY: what crosses kernel threads is values of `T`, moved, and waiters; the rest is ordered by the bias
// and the word.
unsafe impl<T: Send> Send for Meeting<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Meeting<T> {}

/// That of the calling kernel thread's worker.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn slot() -> Option<&'static Slot> {
    crate::sched::worker::Worker::current().and_then(crate::sched::worker::Worker::slot)
}

#[cfg(loom)]
pub(crate) fn slot() -> Option<&'static Slot> {
    crate::model::slot()
}

/// `$call` on the place, in the mode that is right now: alone in a section, or with others by atomic steps.
macro_rules! enter {
    ($self:ident, $mode:ident => $call:expr) => {
        enter!($self, slot(), $mode => $call)
    };
    ($self:ident, $slot:expr, $mode:ident => $call:expr) => {
        // SAFETY: the slot is this kernel thread's, and nothing in a section enters another.
        match unsafe { $self.0.bias.enter($slot) } {
            Access::Owner(section) => {
                let $mode = Plain;
                let result = $call;
                drop(section);
                result
            }
            Access::Shared => {
                let $mode = Atomic;
                $call
            }
        }
    };
}

impl<T> Meeting<T> {
    pub(super) fn new(bias: Bias, attach_inline: bool) -> Self {
        Self(Place::new(bias, attach_inline))
    }

    /// True if parasites that wait here are attached inside the call that unblocks them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn attaches_inline(&self) -> bool {
        self.0.attach_inline
    }

    /// Takes the oldest waiter of the other side, or else waits with `mine` (if it is given).
    ///
    /// With `mine`, the arrival is [`Arrival::Waiting`] and the caller must block; without, it only says that
    /// nobody was there.
    ///
    /// # Safety
    /// `mine` is unlinked, stays where it is until it has been taken out, and its waiter is the calling
    /// thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn meet(&self, side: Side, mine: Option<NonNull<PartyNode<T>>>) -> Arrival<T> {
        // SAFETY: as promised by the caller.
        unsafe { self.meet_from(slot(), side, mine) }
    }

    /// [`meet`](Self::meet) for those who know their slot.
    ///
    /// # Safety
    /// As for `meet`; `slot` is the calling kernel thread's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn meet_from(
        &self,
        slot: Option<&'static Slot>,
        side: Side,
        mine: Option<NonNull<PartyNode<T>>>,
    ) -> Arrival<T> {
        // That nobody is there can be said from outside.
        if mine.is_none() && self.0.is_empty() {
            return Arrival::Waiting;
        }
        // SAFETY: as promised by the caller.
        enter!(self, slot, mode => unsafe { self.0.meet(mode, side, mine) })
    }

    /// Offers to meet the other side in the name of `choice`.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet), and `mine` is an offer of `choice`, which is the calling thread's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn offer(
        &self,
        side: Side,
        mine: NonNull<PartyNode<T>>,
        choice: &Choice,
    ) -> Offering<T> {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.offer(mode, side, mine, choice) })
    }

    /// Takes `mine` out again; false if somebody has it already and owes the wake.
    ///
    /// # Safety
    /// `mine` was queued here by the calling thread with this `side`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn leave(&self, side: Side, mine: NonNull<PartyNode<T>>) -> bool {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.leave(mode, side, mine) })
    }

    /// Gives `mine`, if it still waits, another waiter; gives the one that it had. `None` if somebody has
    /// taken the node.
    ///
    /// # Safety
    /// As for [`leave`](Self::leave); the caller is the node's owner.
    pub(super) unsafe fn renew(&self, mine: NonNull<PartyNode<T>>, waiter: Waiter) -> Option<Waiter> {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.renew(mode, mine, waiter) })
    }

    /// Hands a value back that a receiver was given and does not want: `ghost`, a sender's node without a
    /// thread, goes before all other senders, and stays also if there is no sender left. Unless a receiver
    /// waits: then that is returned, and the ghost is still the caller's.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet); the node belongs to whoever takes it out. The caller has a receiver.
    pub(super) unsafe fn put_back(&self, ghost: NonNull<PartyNode<T>>) -> Option<NonNull<PartyNode<T>>> {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.put_back(mode, ghost) })
    }

    /// Closes the channel, because `side` is gone. `each` gets all of the other side, oldest first, to give
    /// them their `end` and their wake. Values that were handed back are senders: they stay until the
    /// receivers are gone too.
    pub(super) fn close(&self, side: Side, mut each: impl FnMut(NonNull<PartyNode<T>>)) {
        let left = enter!(self, mode => self.0.close(mode, side));
        // A node is out of the list before its thread is woken; those behind it have not been let go.
        std::iter::from_fn(|| left.pop()).for_each(&mut each);
    }
}
