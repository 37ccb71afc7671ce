//! Blocks that come back from other kernel threads, and the end of a slab whose blocks are still out.
//!
//! # States
//! *Open*: `list` is null or a list of blocks, newest first. *Closed* (the owner is about to end): `list` is
//! `CLOSED`, and whoever brings a block back counts it instead. *Settled*: the owner has added the number of
//! blocks that were out when it closed. *Over*: `unsettled` is zero after that, and the memory is freed.
//!
//! # Invariants
//! 1. A block is brought back once: into the list or, when that is closed, into the count.
//! 2. `unsettled` = (after `settle`: blocks out at `close`) - (blocks brought back since `close`); it wraps
//!    below zero until `settle`. So exactly one call finds it zero after the owner has settled: the last one
//!    back, or the owner itself if nothing is out any more. That call's caller frees everything.
//! 3. Until it has been brought back, each block keeps the memory and this object alive.
//!
//! # Who may touch what
//! Anyone who has a block gives it. Only the owner takes, closes and settles, in this order; it touches
//! nothing after `settle` unless that returns true. A block's link is its giver's until the CAS succeeds,
//! then the owner's.
//!
//! # Orderings
//! The Release CAS of `give` pairs with the Acquire swaps of `take` and `close`: the owner has a block after
//! everything that was done with it elsewhere. The count is like that of an `Arc`: Release where it changes,
//! and an Acquire fence for the one who finds it zero, who thus frees after everything that others did with
//! their blocks.
//!
//! # Rejected
//! * [`Inbox`](crate::queue::inbox::Inbox) as the list: it keeps the order, for a second pass over what may
//!   be millions.
//! * A count of the live blocks that is always up to date: a write more at each take and give.
//! * Leaving the chunks of an ended worker mapped for ever: programs that make and drop runtimes would grow.
//!
//! # Checked by
//! `model::slab` (loom, with broken variants that it catches), `slab::tests`.

use super::chunk::Block;
use crate::sync_shim::{AtomicPtr, AtomicUsize, Ordering, acquire_fence};
use std::ptr::{self, NonNull};

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Returns {
    list: AtomicPtr<Block>,
    unsettled: AtomicUsize,
}

/// An address that no block has.
fn closed() -> *mut Block {
    ptr::without_provenance_mut(1)
}

impl Returns {
    pub(crate) fn new() -> Self {
        Self { list: AtomicPtr::new(ptr::null_mut()), unsettled: AtomicUsize::new(0) }
    }

    /// Brings `block` back. True if the caller now has to free everything; after false this object may be
    /// gone.
    ///
    /// # Safety
    /// The block is one of this owner's, and out; the caller gives up its access.
    #[must_use]
    pub(crate) unsafe fn give(&self, block: NonNull<Block>) -> bool {
        // Relaxed: the value is only a guess, checked by the CAS below; CLOSED is for ever.
        let mut head = self.list.load(Ordering::Relaxed);
        while head != closed() {
            // SAFETY: the giver's until the CAS succeeds.
            unsafe { block.as_ref() }.link.set(head);
            // Release pairs with the Acquire swap in `take` and `close`. Relaxed on failure: only a new
            // guess.
            match self.list.compare_exchange_weak(head, block.as_ptr(), Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return false,
                Err(now) => head = now,
            }
        }
        // Release pairs with the Acquire fence of whoever finds the count to be zero.
        let last = self.unsettled.fetch_sub(1, Ordering::Release) == 1;
        if last {
            // Acquire pairs with the Release in `give` and `settle`: the last one sees what all others did.
            acquire_fence(&self.unsettled);
        }
        last
    }

    /// Owner: takes what has come back.
    pub(crate) fn take(&self) -> Taken {
        // Relaxed: whether there is anything; what there is, is read after the swap below. Only the owner
        // closes.
        let head = self.list.load(Ordering::Relaxed);
        if head.is_null() || head == closed() {
            return Taken { next: ptr::null_mut() };
        }
        // Acquire pairs with the Release CAS in `give`.
        Taken { next: self.list.swap(ptr::null_mut(), Ordering::Acquire) }
    }

    /// Owner: the last take. From now on blocks are counted.
    pub(crate) fn close(&self) -> Taken {
        // Acquire pairs with the Release CAS in `give`.
        Taken { next: self.list.swap(closed(), Ordering::Acquire) }
    }

    /// Owner: `out` blocks had not come back at `close`. True if the caller now has to free everything.
    #[must_use]
    pub(crate) fn settle(&self, out: usize) -> bool {
        // Release pairs with the Acquire fence in `give`.
        let last = self.unsettled.fetch_add(out, Ordering::Release).wrapping_add(out) == 0;
        if last {
            // Acquire pairs with the Release in `give`.
            acquire_fence(&self.unsettled);
        }
        last
    }
}

/// Blocks that have come back.
pub(crate) struct Taken {
    next: *mut Block,
}

impl Iterator for Taken {
    type Item = NonNull<Block>;
    fn next(&mut self) -> Option<NonNull<Block>> {
        let block = NonNull::new(self.next)?;
        // SAFETY: the swap made the list ours; the link is read before the caller may use or unmap the block.
        self.next = unsafe { block.as_ref() }.link.get();
        Some(block)
    }
}
