//! What a channel or a variable knows of itself, for who looks at the threads that wait for it.

use crate::sync_shim::{AtomicU32, Ordering, const_fn};
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
    pub(crate) senders: Ends,
    pub(crate) receivers: Ends,
}

/// The number of a channel's ends on one side: the ends count themselves, and whoever looks at the threads that wait reads it.
pub(crate) struct Ends(AtomicU32);

/// Most ends of a side.
const MOST: u32 = u32::MAX / 4;
/// In the number of senders: there are, or were, weak ones, which are not counted.
const HAS_WEAK: u32 = 1 << 31;

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

impl Ends {
    /// Counts a new one.
    pub(crate) fn add(&self) {
        // Relaxed: the caller has an end of the channel, which keeps the count above zero, as in `Arc`.
        if self.0.fetch_add(1, Ordering::Relaxed) & !HAS_WEAK > MOST {
            crate::bug::say!("a channel has more than {MOST} ends on one side: are they forgotten?");
            std::process::abort()
        }
    }

    /// Counts one out; true if it was the last.
    pub(crate) fn remove(&self) -> bool {
        // AcqRel pairs with itself: the last one sees what the others did before they were dropped.
        self.0.fetch_sub(1, Ordering::AcqRel) & !HAS_WEAK == 1
    }

    /// How many there are.
    pub(crate) fn get(&self) -> u32 {
        // Relaxed: a number, with which no data travels; for those who decide by it the lock under which it changes orders it.
        self.0.load(Ordering::Relaxed) & !HAS_WEAK
    }
}

impl Counted {
    /// Of a channel that is made at `site`, with an end of each kind; `start` bytes from its beginning.
    pub(crate) fn new(site: &'static Location<'static>, start: usize) -> Self {
        let one = || Ends(AtomicU32::new(1));
        Self { made: Made::new(site, start), senders: one(), receivers: one() }
    }

    const_fn! {
        /// Of something that has no ends.
        pub(crate) const fn without_ends(site: &'static Location<'static>, start: usize) -> Self {
            Self { made: Made::new(site, start), senders: Ends(AtomicU32::new(0)), receivers: Ends(AtomicU32::new(0)) }
        }
    }

    /// From now on there are weak senders, which are not counted.
    pub(crate) fn note_weak(&self) {
        // Relaxed: a hint for whoever looks.
        self.senders.0.fetch_or(HAS_WEAK, Ordering::Relaxed);
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
    /// How many senders and receivers there are; `None` of something that has none. (A channel that a thread waits for has one.)
    pub(super) fn ends(&self) -> Option<(u32, u32)> {
        let ends = (self.senders.get(), self.receivers.get());
        (ends != (0, 0)).then_some(ends)
    }

    /// [`Made::handle`], if all that have it are counted.
    pub(super) fn handle(&self) -> Option<usize> {
        // Relaxed: as in `note_weak`.
        (self.senders.0.load(Ordering::Relaxed) & HAS_WEAK == 0).then(|| self.made.handle())
    }
}

/// Where an object was made, and its number.
#[cfg(not(loom))]
pub(crate) type Origin = (&'static Location<'static>, u32);
