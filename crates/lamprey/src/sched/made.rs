//! What a channel or a variable knows of itself, for who looks at the threads that wait for it.

use crate::sync_shim::AtomicU32;
#[cfg(not(loom))]
use crate::sync_shim::Ordering;
use std::panic::Location;

/// Where an object was made, and its number.
#[repr(C, align(8))]
#[cfg_attr(loom, allow(dead_code, reason = "the models do not look at it"))]
#[derive(Debug)]
pub(crate) struct Made {
    site: &'static Location<'static>,
    /// Given at the first look, so that to make an object costs no shared counter; 0 before.
    #[cfg(not(loom))]
    number: AtomicU32,
    /// How far it is from the beginning of the object, which its ends refer to.
    start: u32,
}

/// [`Made`] of a channel, with the numbers of its ends.
#[repr(C)]
pub(crate) struct Counted {
    pub(super) made: Made,
    pub(crate) senders: AtomicU32,
    pub(crate) receivers: AtomicU32,
}

/// The number of the next object that is looked at.
#[cfg(not(loom))]
static NEXT: AtomicU32 = AtomicU32::new(1);

impl Made {
    /// Of an object that is made at `site`, `start` bytes from its beginning.
    pub(crate) const fn new(site: &'static Location<'static>, start: usize) -> Self {
        Self {
            site,
            start: start as u32,
            #[cfg(not(loom))]
            number: AtomicU32::new(0),
        }
    }
}

impl Counted {
    /// Of a channel that is made at `site`, with an end of each kind; `start` bytes from its beginning.
    pub(crate) fn new(site: &'static Location<'static>, start: usize) -> Self {
        Self { made: Made::new(site, start), senders: AtomicU32::new(1), receivers: AtomicU32::new(1) }
    }
}

#[cfg(not(loom))]
impl Made {
    pub(super) fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// What its ends have in memory: the address of the counts that an [`Arc`](std::sync::Arc) keeps before the object, unless that is
    /// aligned to more than they take.
    pub(super) fn handle(&self) -> usize {
        std::ptr::from_ref(self).addr().wrapping_sub(self.start as usize + 2 * size_of::<usize>())
    }

    /// Unique in the process.
    pub(super) fn number(&self) -> u32 {
        // Relaxed: a number, with which no data travels.
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            return number;
        }
        // Relaxed: a number. One that loses the race is given to nobody.
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        // Relaxed: a number.
        let before = self.number.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed);
        before.map_or_else(|theirs| theirs, |_| fresh)
    }
}

#[cfg(not(loom))]
impl Counted {
    /// How many senders and receivers there are.
    pub(super) fn ends(&self) -> (u32, u32) {
        // Relaxed: numbers, with which no data travels.
        (self.senders.load(Ordering::Relaxed), self.receivers.load(Ordering::Relaxed))
    }
}

/// Where an object was made, and its number.
#[cfg(not(loom))]
pub(crate) type Origin = (&'static Location<'static>, u32);
