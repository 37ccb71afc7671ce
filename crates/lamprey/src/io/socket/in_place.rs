//! Writes that the kernel performs from the program's own memory. The kernel gives that back when the peer has acknowledged the bytes,
//! which shutting the socket down does not hasten: `close` has to end the connection.
//!
//! # Invariants
//! * A write counts itself before it looks whether the socket is closed, and `close` marks the socket before it looks for such writes.
//!   So one of the two sees the other.
//!
//! # Orderings
//! Both sides have a SeqCst fence between their store and their look (StoreLoad).

use crate::sync_shim::{AtomicU32, Ordering, fence};

/// How many such writes are under way.
#[derive(Debug, Default)]
pub(crate) struct InPlace(AtomicU32);

/// One of them.
pub(crate) struct Write<'a>(&'a InPlace);

impl InPlace {
    /// Before a write looks whether the socket is closed.
    pub(crate) fn begin(&self) -> Write<'_> {
        // Relaxed: ordered by the fence.
        self.0.fetch_add(1, Ordering::Relaxed);
        // StoreLoad: the count before, against the look for the mark after; pairs with the one in `is_under_way`.
        fence(Ordering::SeqCst);
        Write(self)
    }

    /// True if there is a write; after the socket has been marked as closed.
    pub(crate) fn is_under_way(&self) -> bool {
        // StoreLoad: the mark before, against the count after; pairs with the one in `begin`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        self.0.load(Ordering::Relaxed) != 0
    }
}

impl Drop for Write<'_> {
    fn drop(&mut self) {
        // Relaxed: only a number; at worst a connection is ended that is shut down anyway.
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
