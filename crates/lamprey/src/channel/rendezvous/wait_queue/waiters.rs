//! The wait lists of a channel, for the holder of its LOCK.

use super::state::side_of;
use super::{Offering, Side};
use crate::channel::rendezvous::wait_node::{At, NodeHead, NodeState};
use crate::events::protocol::{Both, Choice};
use crate::queue::list::List;
use crate::sync_shim::left_out;
use std::ptr::NonNull;

/// The wait lists, one for each side; swappers are among the senders.
pub(super) struct Waiters {
    pub(super) senders: List<NodeState>,
    pub(super) receivers: List<NodeState>,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { senders: List::new(), receivers: List::new() }
    }

    pub(super) fn of(&self, side: Side) -> &List<NodeState> {
        if side == Side::Receiver { &self.receivers } else { &self.senders }
    }

    /// The list of those whom `side` meets.
    pub(super) fn peers_of(&self, side: Side) -> &List<NodeState> {
        if side == Side::Sender { &self.receivers } else { &self.senders }
    }

    /// Takes out the oldest waiter that `side` can meet.
    pub(super) fn pop_peer_of(&self, side: Side) -> Option<NonNull<NodeHead>> {
        loop {
            let node = self.peers_of(side).pop()?;
            // SAFETY: just taken out.
            if unsafe { node.as_ref() }.value.accept() {
                return Some(node);
            }
        }
    }

    /// Takes all nodes out, senders first, but for undelivered values, which stay for receivers.
    pub(super) fn take_waiting(&self) -> [List<NodeState>; 2] {
        let (all, waiting) = (self.senders.take(), List::new());
        while let Some(node) = all.pop() {
            // SAFETY: just taken out, so the node is the caller's and in no list; it stays until its owner is woken, or until
            // it is freed by the thread that takes it out.
            unsafe {
                let is_undelivered = matches!(node.as_ref().value.waiter(), At::Undelivered);
                if is_undelivered { self.senders.push(node) } else { waiting.push(node) }
            }
        }
        [waiting, self.receivers.take()]
    }

    /// Moves the lone waiter of `word` into its list.
    ///
    /// # Safety
    /// The lock has just been taken from this `word`.
    pub(super) unsafe fn list_alone(&self, alone: Option<NonNull<NodeHead>>, word: *mut NodeHead) {
        if let Some(node) = alone {
            let list = if side_of(word) == Side::Sender as usize { &self.senders } else { &self.receivers };
            // SAFETY: a lone waiter is in no list; its owner waits until the node is taken out.
            unsafe { list.push(node) };
        }
    }

    /// Takes out the oldest waiter of the other side that an offer of `choice` on `side` can meet, with both choices
    /// synched. Skips offers of `choice` itself.
    ///
    /// If the youngest waiter of `side` is an offer of `choice`, there is nothing to search for: that offer has
    /// searched, and whoever has come since then would have met it. Without this, a choice with many offers on both
    /// sides would skip half of them for each of the others.
    pub(super) fn meet_choice(&self, side: Side, choice: &Choice) -> Offering {
        // SAFETY: null, or linked in this list, whose lock is held.
        let youngest = unsafe { self.of(side).last().as_ref() };
        let is_searched = youngest.is_some_and(|node| {
            node.value.is_offer_of(choice) || left_out!(OwnYoungest) && node.value.is_offer()
        });
        if is_searched { Offering::Waiting } else { Self::search(self.peers_of(side), choice) }
    }

    /// The search of [`meet_choice`](Self::meet_choice).
    fn search(list: &List<NodeState>, choice: &Choice) -> Offering {
        loop {
            let Some(node) = list.find(|node| !node.value.is_offer_of(choice)) else {
                return Offering::Waiting;
            };
            // SAFETY: linked, and the lock is held.
            let wait_node = unsafe { &node.as_ref().value };
            let both = match wait_node.waiter() {
                // SAFETY: a choice outlives its queued offers.
                At::Offer(theirs) => choice.synch_both(unsafe { theirs.as_ref() }),
                _ if left_out!(OwnSynch) || choice.synch() => Both::Synched,
                _ => Both::OursIsGone,
            };
            if both == Both::OursIsGone {
                return Offering::Lost;
            }
            // SAFETY: linked in this list.
            unsafe { list.remove(node) };
            if both == Both::Synched {
                return Offering::Peer(node);
            }
            wait_node.set_stale();
        }
    }
}
