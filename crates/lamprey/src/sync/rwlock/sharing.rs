//! The rules of a lock that readers share.
//!
//! # Invariants
//! 1. HELD is set while a thread writes; then no thread reads.
//! 2. No thread overtakes: a reader that comes while a writer waits, waits behind it; and readers that are
//!    next to each other at the front go together. So neither readers nor writers starve.
//! 3. The number of readers is exact. It cannot wrap, although guards can be forgotten: 2^64 of them take
//!    thousands of years.

use crate::sync::line::{Decision, LockKind};
use crate::sync_shim::left_out;

/// The state: how many threads read; HELD if one writes.
#[derive(Debug, Clone, Copy)]
pub struct Sharing {
    pub(super) readers: u64,
}

/// To read, with others.
pub(super) const READ: u32 = 0;
/// To write, alone.
pub(super) const WRITE: u32 = 1;

impl Sharing {
    pub(super) const fn new() -> Self {
        Self { readers: 0 }
    }
}

impl LockKind for Sharing {
    fn take(&mut self, held: &mut bool, want: &mut u32) -> Decision {
        if *held || (*want == WRITE && self.readers != 0 && !left_out!(RwCount)) {
            return Decision::Waits;
        }
        if *want == WRITE {
            *held = true;
        } else {
            self.readers += 1;
        }
        Decision::Has
    }

    fn give_back(&mut self, held: &mut bool, want: u32) {
        if want == WRITE {
            *held = false;
        } else {
            self.readers -= 1;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn readers_beyond_32_bits_still_keep_writers_out() {
        let (mut sharing, mut held) = (Sharing { readers: u64::from(u32::MAX) }, false);
        assert_eq!(sharing.take(&mut held, &mut { READ }), Decision::Has);
        assert_eq!(sharing.readers, 1 << 32);
        assert_eq!(sharing.take(&mut held, &mut { WRITE }), Decision::Waits);
        sharing.give_back(&mut held, READ);
        assert_eq!((sharing.readers, held), (u64::from(u32::MAX), false));
    }
}
