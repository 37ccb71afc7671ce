//! The state word of a rendezvous channel: a sender and a receiver meet by one atomic change of it.
//!
//! The idea is the paper's (Dolan, Muralidharan and Gregg, *Compiler Support for Lightweight Context Switching*, 2013,
//! 6.1-6.2): the channel's state is in the low bits of the
//! pointer to its waiters, so checking for a peer and queueing are one step. Unlike the paper, more than one
//! waiter is kept in a list, which a bit of the same word locks. So a waiter can leave from the middle
//! (timeout, cancellation), and no thread reads a node that may be freed.
//!
//! # States (`word`)
//! ```text
//! EMPTY                no thread waits
//! ONE(side, node)      one thread of that side waits; the node is on its stack
//! MANY                 the waiters are in the lists, oldest first
//! CLOSED               one side is gone for good, or has closed the channel; the senders' list may hold undelivered values for receivers
//! any of them | LOCK   a thread works on the lists, and will store the next state
//! ```
//!
//! # Invariants
//! 1. A sender and a receiver never both wait: the one that arrives second takes the oldest waiter of the
//!    other side. Both lists have nodes only while one of them is an offer that cannot be met: its choice is
//!    decided, or waits on both sides. On a swap channel all are of one side, and two of them wait only if they cannot
//!    meet for the same reasons.
//! 2. A node leaves the word or its list exactly once, by the CAS or under the LOCK. The thread that takes it
//!    out must wake its owner, and owns the node until then ([`sched::block`](crate::sched::block), invariant
//!    1; [`sched::wait`](crate::sched::wait)). For an offer this holds only after the choice is synched
//!    ([`Choice`](crate::events::protocol::Choice)); if that fails, the thread only marks the node stale.
//! 3. The thread that took the node moves the value: into the node (of a receiver), out of it (of a
//!    sender), or both (of a swapper). How the owner learns of it and when it owns the node again: [`wait_node`](super::wait_node).
//! 4. CLOSED is final.
//! 5. An offer searches the lists and is queued under one LOCK, because it must not take a peer out before
//!    its own choice is synched. If no thread waits, it is put into the word like any other node.
//!
//! # Who may touch what
//! The lists and the nodes' links: the holder of LOCK. The rest of a node: its owner until it is queued and
//! after it has left; in between, the thread that took it out.
//!
//! # Orderings
//! Every successful change of the word is AcqRel (or the Release store that drops LOCK): it publishes the
//! node that it stores and acquires the nodes that others have stored. Loads are Relaxed guesses that a CAS
//! confirms. The value on its way back to the owner is published by the node's own word.
//!
//! A CAS may succeed although the node left and came back in between (ABA). That is harmless: the node in the
//! word waits in either case, and nothing of it was read before.
//!
//! # Owner bias
//! While a single worker uses the channel, the same steps are plain loads and stores in a section of
//! [`bias`](crate::bias); `place` is written once for both. In a section no other thread touches the word, so
//! every guess holds and LOCK is never seen. A section may spin on a choice that is CLAIMED by another kernel
//! thread; that lasts a few instructions and waits for no section (`events::protocol::choice`, invariant 3).
//!
//! # Rejected
//! * A lock around state and queue: 16 ns a message against 13 (measured on a prototype).
//! * The paper's queue unchanged: it may read freed nodes and recovers in a signal handler, which is
//!   undefined behaviour in Rust.
//!
//! # Checked by
//! `model::channel` (loom: send, recv, timeout, disconnect, three threads), `model::choice` (offers),
//! `tests/channel/rendezvous.rs`, `tests/stress/mixed.rs`.

mod state;
mod waiters;

use self::state::{Atomic, Plain, QueueState};
use super::wait_node::{NodeHead, NodeState};
use crate::bias::{Access, Bias, Slot};
use crate::events::protocol::Choice;
use crate::queue::list::List;
use crate::sched::Waiter;
use crate::sched::thread::Thread;
use std::ptr::NonNull;

/// The two sides of a channel, and the only one of a swap channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Side {
    Sender = 1,
    Receiver = 2,
    /// Meets its own kind, and waits where senders do.
    Swapper = 5,
}

/// The result of an arrival.
pub(super) enum Arrival {
    /// The oldest waiter of the other side: move the value, set `end`, wake it.
    Peer(NonNull<NodeHead>),
    /// As `Peer`, where the waiter is this thread.
    Thread(NonNull<NodeHead>, NonNull<Thread>),
    /// No peer was there; the node is queued now, if one was given.
    Waiting,
    /// The channel is closed.
    Closed,
}

/// The result of an offer.
pub(super) enum Offering {
    /// The choice is synched with this peer, which is then as in [`Arrival::Peer`].
    Peer(NonNull<NodeHead>),
    /// No peer was there; the node is queued now.
    Waiting,
    /// The channel is closed, and the choice is synched with that outcome.
    Closed,
    /// The choice was already decided.
    Lost,
}

impl Side {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn other(self) -> Self {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
            Side::Swapper => Side::Swapper,
        }
    }

    /// The tag of its lone waiter in the word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tag(self) -> usize {
        self as usize & state::SIDE
    }

    /// True if the slot of one that has not met is full.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn gives(self) -> bool {
        self != Side::Receiver
    }
}

/// The state word, its wait queues and the bias. It knows nothing of the values.
pub(super) struct WaitQueue(QueueState);

// SAFETY: waiters may be moved between kernel threads; the bias and the word order all other accesses.
unsafe impl Send for WaitQueue {}
// SAFETY: shared access goes through the bias and the word.
unsafe impl Sync for WaitQueue {}

/// The bias slot of the calling kernel thread's worker.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn slot() -> Option<&'static Slot> {
    crate::sched::worker::Worker::current().and_then(crate::sched::worker::Worker::slot)
}

#[cfg(loom)]
pub(crate) fn slot() -> Option<&'static Slot> {
    crate::model::slot()
}

/// Runs `$call` on the place in the mode of `$access`: plain steps in an owner's section, or atomic steps.
macro_rules! run {
    ($access:expr, $mode:ident => $call:expr) => {
        match $access {
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

/// [`run`] in the present mode.
macro_rules! enter {
    ($self:ident, $mode:ident => $call:expr) => {
        enter!($self, slot(), $mode => $call)
    };
    ($self:ident, $slot:expr, $mode:ident => $call:expr) => {
        // SAFETY: the slot is this kernel thread's, and nothing in a section enters another.
        run!(unsafe { $self.0.bias.enter($slot) }, $mode => $call)
    };
}

/// [`enter`] if the mode is settled; `false` otherwise.
macro_rules! enter_if_settled {
    ($self:ident, $mode:ident => $call:expr) => {
        // SAFETY: the slot is this kernel thread's, and nothing in a section enters another.
        match unsafe { $self.0.bias.enter_if_settled(slot()) } {
            Some(access) => run!(access, $mode => $call),
            None => false,
        }
    };
}

impl WaitQueue {
    pub(super) fn new(bias: Bias, attach_inline: bool) -> Self {
        Self(QueueState::new(bias, attach_inline))
    }

    /// True if parasites that wait here are attached inside the call that unblocks them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn attaches_inline(&self) -> bool {
        self.0.attach_inline
    }

    /// Takes the oldest waiter of the other side, or else queues `mine` (if it is given).
    ///
    /// If `mine` was given and the result is [`Arrival::Waiting`], the caller must block; without `mine` that
    /// result only says that no peer was there.
    ///
    /// # Safety
    /// `mine` is unlinked, stays where it is until it has been taken out, and its waiter is the calling
    /// thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn meet(&self, side: Side, mine: Option<NonNull<NodeHead>>) -> Arrival {
        // SAFETY: as promised by the caller.
        unsafe { self.meet_from(slot(), side, mine) }
    }

    /// [`meet`](Self::meet) for callers that have their slot at hand.
    ///
    /// # Safety
    /// As for `meet`; `slot` is the calling kernel thread's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn meet_from(
        &self,
        slot: Option<&'static Slot>,
        side: Side,
        mine: Option<NonNull<NodeHead>>,
    ) -> Arrival {
        // Emptiness can be read outside of a section: a Relaxed guess is enough for that.
        if mine.is_none() && self.0.is_empty() {
            return Arrival::Waiting;
        }
        // SAFETY: as promised by the caller.
        enter!(self, slot, mode => unsafe { self.0.meet(mode, side, mine) })
    }

    /// True if no thread waited just now, for a caller that need not know better.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Queues `mine` if no other node waits; false if that could not be done in a few steps.
    ///
    /// # Safety
    /// As for [`offer`](Self::offer).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn offer_first(&self, side: Side, mine: NonNull<NodeHead>) -> bool {
        // SAFETY: as promised by the caller.
        enter_if_settled!(self, mode => unsafe { self.0.offer_first(mode, side, mine) })
    }

    /// Offers to meet the other side in the name of `choice`.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet), and `mine` is an offer of `choice`, which is the calling thread's.
    pub(super) unsafe fn offer(&self, side: Side, mine: NonNull<NodeHead>, choice: &Choice) -> Offering {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.offer(mode, side, mine, choice) })
    }

    /// Takes `mine` out if no other node waits; false if that could not be done in a few steps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn leave_alone(&self, side: Side, mine: NonNull<NodeHead>) -> bool {
        enter_if_settled!(self, mode => self.0.leave_alone(mode, side, mine))
    }

    /// Takes `mine` out again; false if another thread has taken it and will wake its owner.
    ///
    /// # Safety
    /// `mine` was queued here by the calling thread with this `side`.
    pub(super) unsafe fn leave(&self, side: Side, mine: NonNull<NodeHead>) -> bool {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.leave(mode, side, mine) })
    }

    /// Replaces the waiter of `mine` if it is still queued, and returns the old one. `None` if another thread
    /// has taken the node.
    ///
    /// # Safety
    /// As for [`leave`](Self::leave); the caller is the node's owner.
    pub(super) unsafe fn renew(&self, mine: NonNull<NodeHead>, waiter: Waiter) -> Option<Waiter> {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.renew(mode, mine, waiter) })
    }

    /// Hands back a value that a receiver was given and did not return. `handed_back`, a sender's node
    /// without a thread, goes in front of all other senders, and stays even if no sender is left. If a
    /// receiver waits, it is returned instead, and `handed_back` is still the caller's.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet); the thread that takes the node out frees it. The caller has a receiver.
    #[inline(never)]
    pub(super) unsafe fn put_back(&self, handed_back: NonNull<NodeHead>) -> Option<NonNull<NodeHead>> {
        // SAFETY: as promised by the caller.
        enter!(self, mode => unsafe { self.0.put_back(mode, handed_back) })
    }

    /// Closes the channel, because `side` is gone. Returns all nodes of the other side, oldest first, which the
    /// caller must end and wake. Undelivered values count as senders: they stay until the receivers are gone
    /// too.
    pub(super) fn close(&self, side: Side) -> List<NodeState> {
        enter!(self, mode => self.0.close(mode, side))
    }

    /// Closes the channel although both sides are there. `None` if it was closed; otherwise all nodes of both sides, but
    /// for undelivered values: the caller must end and wake them, as after [`close`](Self::close).
    pub(super) fn shut(&self) -> Option<[List<NodeState>; 2]> {
        enter!(self, mode => self.0.shut(mode))
    }

    /// True if the channel is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}
