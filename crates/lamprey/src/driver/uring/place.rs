//! [`Place`]: a place among the operations that may keep one of the kernel's threads for as long as they take, which may be for
//! ever: the opens of FIFOs, what a file server does not answer.
//!
//! The kernel has a number of threads for them for each ring (its io-wq, *bounded*). An operation that finds none waits behind the others, and
//! so would those that end, such as reads of a disk. So operations of these kinds get fewer places than there are threads;
//! those beyond go to the pool, where a call that takes long does not count.
//!
//! Invariant: a place is taken from before its entry is queued until its last completion has been taken, or later.

use super::here::Here;
use super::ring::Ring;
use crate::driver::pool;
use crate::sync_shim::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The places of a ring that are free.
pub(super) struct Places(AtomicUsize);

impl Places {
    /// For a ring of the calling kernel thread, and the number of threads that the kernel is to have for it: as many as the pool for
    /// files may have, if those are more than usual.
    pub(super) fn for_ring() -> (Self, u32) {
        let most = pool::current(pool::Class::Files).map_or(0, |pool| pool.max()).max(pool::MOST_THREADS);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        // A quarter is left for what has an end.
        (Self(AtomicUsize::new((most - most / 4) as usize)), most)
    }
}

pub(crate) struct Place(Arc<Ring>);

impl Place {
    /// `None` if all are taken.
    pub(super) fn take(here: Here) -> Option<Self> {
        // Relaxed: a count, which publishes nothing. Only the owner takes, so none is taken twice.
        let free = &here.places.0;
        (free.load(Ordering::Relaxed) != 0).then(|| {
            free.fetch_sub(1, Ordering::Relaxed);
            Self(here.shared())
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.0.places.0.fetch_add(1, Ordering::Relaxed);
    }
}
