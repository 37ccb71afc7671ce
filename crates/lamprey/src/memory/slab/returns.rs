//! Blocks that are freed on other kernel threads, and the end of a slab with blocks still out.
//!
//! # States
//! *Open*: `list` is null or a list of blocks, newest first. *Closed* (the owner is about to end): `list` is
//! `CLOSED`, and a thread that returns a block counts it instead. *Settled*: the owner has added the number
//! of blocks that were out when it closed. *Over*: `unsettled` is zero after that, and the memory is freed.
//!
//! # Invariants
//! 1. A block is returned once: into the list or, when that is closed, into the count.
//! 2. `unsettled` = (after `settle`: blocks out at `close`) - (blocks returned since `close`); it wraps below
//!    zero until `settle`. So exactly one call finds it zero after the owner has settled: that of the last
//!    block, or the owner's own if no block is out any more. That caller frees everything.
//! 3. Until it has been returned, each block keeps the memory and this object alive.
//!
//! # Who may touch what
//! Any thread that has a block may return it. Only the owner takes, closes and settles, in this order; it
//! touches nothing after `settle` unless that returns true. A block's link belongs to the thread that returns
//! it until the CAS succeeds, then to the owner.
//!
//! # Orderings
//! The Release CAS of `give` pairs with the Acquire swaps of `take` and `close`: the owner gets a block after
//! everything that was done with it elsewhere. The count is like that of an `Arc`: Release where it changes,
//! and an Acquire fence in the thread that finds it zero, which thus frees after everything that others did
//! with their blocks.
//!
//! # Rejected
//! * [`Inbox`](crate::queue::inbox::Inbox) as the list: it keeps the order, which takes a second pass over
//!   what may be millions of blocks.
//! * An exact count of the live blocks: one more write at each take and give.
//! * Keeping the chunks of an ended worker mapped for ever: programs that make and drop runtimes would grow.
//!
//! # Checked by
//! `model::slab` (loom, with broken variants that it catches), `slab::tests`.

use super::chunk::Block;
use crate::sync_shim::{AtomicPtr, AtomicUsize, Ordering, acquire_fence};
use std::ptr::{self, NonNull};

/// The returned blocks of one slab.
#[derive(Debug)]
pub(crate) struct Returns {
    list: AtomicPtr<Block>,
    unsettled: AtomicUsize,
}

/// A value that is not the address of a block.
fn closed() -> *mut Block {
    ptr::without_provenance_mut(1)
}

impl Returns {
    pub(crate) fn new() -> Self {
        Self { list: AtomicPtr::new(ptr::null_mut()), unsettled: AtomicUsize::new(0) }
    }

    /// Returns `block`. True if the caller must now free everything; after false this object may have been
    /// freed.
    ///
    /// # Safety
    /// The block is one of this owner's, and out; the caller gives up its access.
    #[must_use]
    pub(crate) unsafe fn give(&self, block: NonNull<Block>) -> bool {
        // Relaxed: the value is only a guess, checked by the CAS below; CLOSED is final.
        let mut head = self.list.load(Ordering::Relaxed);
        while head != closed() {
            // SAFETY: the block is the caller's until the CAS succeeds.
            unsafe { block.as_ref() }.link.set(head);
            // Release pairs with the Acquire swap in `take` and `close`. Relaxed on failure: only a new
            // guess.
            match self.list.compare_exchange_weak(head, block.as_ptr(), Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return false,
                Err(now) => head = now,
            }
        }
        // Release pairs with the Acquire fence of the thread that finds the count zero.
        let last = self.unsettled.fetch_sub(1, Ordering::Release) == 1;
        if last {
            // Acquire pairs with the Release in `give` and `settle`: the last thread sees what all others
            // did.
            acquire_fence(&self.unsettled);
        }
        last
    }

    /// Owner: takes the blocks that have been returned.
    pub(crate) fn take(&self) -> Taken {
        // Relaxed: only tests for emptiness; the list is read after the swap below. Only the owner closes.
        let head = self.list.load(Ordering::Relaxed);
        if head.is_null() || head == closed() {
            return Taken { next: ptr::null_mut() };
        }
        // Acquire pairs with the Release CAS in `give`.
        Taken { next: self.list.swap(ptr::null_mut(), Ordering::Acquire) }
    }

    /// Owner: the last take. From now on returned blocks are counted.
    pub(crate) fn close(&self) -> Taken {
        // Acquire pairs with the Release CAS in `give`.
        Taken { next: self.list.swap(closed(), Ordering::Acquire) }
    }

    /// Owner: `out` blocks had not been returned at `close`. True if the caller must now free everything.
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

/// Blocks that have been returned.
pub(crate) struct Taken {
    next: *mut Block,
}

impl Iterator for Taken {
    type Item = NonNull<Block>;
    fn next(&mut self) -> Option<NonNull<Block>> {
        let block = NonNull::new(self.next)?;
        // SAFETY: the swap took the list, so no other thread accesses it; the link is read before the caller
        // may use or unmap the block.
        self.next = unsafe { block.as_ref() }.link.get();
        Some(block)
    }
}
