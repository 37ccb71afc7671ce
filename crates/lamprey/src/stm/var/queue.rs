//! The transactions that wait at a variable: see [`waiting`](crate::stm::waiting) for the protocol, and
//! invariant 4 of [`var`](super).

use super::Var;
use crate::queue::list::Node;
use crate::stm::stamp::{Stamp, WAITED};
use crate::stm::waiting::WaitEntry;
use crate::sync_shim::left_out;
use std::ptr::NonNull;

impl Var {
    /// Queues a node of a transaction that has read the variable at `stamp`; see
    /// [`waiting`](crate::stm::waiting).
    ///
    /// # Safety
    /// The node is in no list, and stays until it has been taken out.
    pub(in crate::stm) unsafe fn enqueue(&self, stamp: Stamp, node: NonNull<Node<WaitEntry>>) -> Enqueued {
        let word = self.peek();
        if Stamp::of(word) != stamp && !left_out!(StmBlind) {
            self.free(word);
            return Enqueued::Changed;
        }
        if !self.try_add_ref() {
            self.free(word);
            return Enqueued::Dying;
        }
        // SAFETY: as promised by the caller; PEEKED is set.
        unsafe { self.queue.push(node) };
        self.free(word | WAITED);
        Enqueued::Queued
    }

    /// Takes a node out, if it is still there. Its reference stays the caller's.
    ///
    /// # Safety
    /// The node, if it is in a list, is in this variable's.
    pub(in crate::stm) unsafe fn dequeue(&self, node: NonNull<Node<WaitEntry>>) {
        let word = self.peek();
        // SAFETY: as promised by the caller; PEEKED is set.
        unsafe { self.queue.remove(node) };
        self.free(self.waited(word));
    }

    /// Calls `f` with queued nodes that have read another stamp than the present one, and takes them out, as
    /// long as `f` wants more.
    pub(in crate::stm) fn dequeue_due(&self, mut f: impl FnMut(&WaitEntry) -> bool) {
        let word = self.peek();
        while let Some(node) = self.queue.first() {
            // SAFETY: linked, so alive; PEEKED is set.
            let entry = unsafe { &node.as_ref().value };
            if entry.stamp == Stamp::of(word) {
                break;
            }
            self.queue.pop();
            if !f(entry) {
                break;
            }
        }
        self.free(self.waited(word));
    }

    /// `word` with WAITED as it is now; PEEKED is set by the caller.
    fn waited(&self, word: u64) -> u64 {
        if self.queue.is_empty() { word & !WAITED } else { word | WAITED }
    }
}

/// The outcome of [`Var::enqueue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm) enum Enqueued {
    Queued,
    /// The stamp is another one.
    Changed,
    /// No thread has a handle any more: the variable never changes again.
    Dying,
}
