//! The operations that the kernel performs, one a file: its entry, and what the answer means. Those of sockets are for
//! threads; those of files also for futures, with memory that the ring keeps.

pub(crate) mod accept;
pub(crate) mod advise;
pub(super) mod cancel;
pub(crate) mod close;
pub(crate) mod connect;
pub(crate) mod open;
pub(super) mod poll;
pub(crate) mod read;
pub(crate) mod recv;
pub(crate) mod send;
pub(crate) mod stat;
pub(crate) mod sync;
pub(crate) mod write;

use super::call;
use super::here::Here;
use super::place::Place;
use super::{Answer, Kept, Performed, future};
use crate::memory::aligned::AlignedBuf;

/// Lengths in entries have 32 bits; the kernel transfers at most 2 GiB at once anyway.
fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Nothing but the file.
impl Kept for () {
    type Given = ();

    fn give_back(self) {}
}

impl Kept for AlignedBuf {
    type Given = Self;

    fn give_back(self) -> Self {
        self
    }
}
