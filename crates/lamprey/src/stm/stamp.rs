//! The first word of a variable: which commit wrote it last, and who is at it just now.
//!
//! # States
//! ```text
//! stamp            free: value and stamp belong together
//! stamp|PEEKED     a thread looks at what is not one word (an `Arc`, the queue), for some instructions
//! stamp|COMMITTING a commit that will replace the value, or give up
//! ...|WAITED       besides: nodes are queued (sections that hold the word may change this)
//! ```
//! A **stamp** is the number of a seat and of its commit ([`seat`](super::seat)): no two commits have the same
//! one, so a variable whose stamp is the same has not been written in between.

/// A commit holds the variable.
pub(super) const COMMITTING: u64 = 1;
/// A thread holds it that waits for nothing meanwhile.
pub(super) const PEEKED: u64 = 2;
/// Its queue is not empty.
pub(super) const WAITED: u64 = 4;

const FLAGS: u64 = COMMITTING | PEEKED | WAITED;
const SEAT_SHIFT: u32 = 3;
/// The bits of a seat's number: 256 seats. What is left, 53 bits, counts the commits of one seat: a hundred
/// million a second for three years.
const SEAT_BITS: u32 = 8;

/// The number of seats.
pub(super) const SEATS: usize = if cfg!(loom) { 4 } else { 1 << SEAT_BITS };

/// Which commit wrote a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Of no commit: what a new variable's memory has. Its clock is 0, so every thread knows it.
    #[cfg(test)]
    pub(super) const NONE: Self = Self(0);

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn new(seat: usize, clock: u64) -> Self {
        Self((clock << SEAT_BITS | seat as u64) << SEAT_SHIFT)
    }

    /// The stamp in a variable's word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn of(word: u64) -> Self {
        Self(word & !FLAGS)
    }

    /// The word of a free variable, without [`WAITED`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn word(self) -> u64 {
        self.0
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn seat(self) -> usize {
        (self.0 >> SEAT_SHIFT) as usize & (SEATS - 1)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn clock(self) -> u64 {
        self.0 >> (SEAT_SHIFT + SEAT_BITS)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_keeps_its_parts_beside_the_flags() {
        let stamp = Stamp::new(255, 1 << 40);
        assert_eq!((stamp.seat(), stamp.clock()), (255, 1 << 40));
        assert_eq!(Stamp::of(stamp.word() | COMMITTING | PEEKED | WAITED), stamp);
        assert_ne!(Stamp::new(1, 7), Stamp::new(2, 7));
        assert_eq!(Stamp::NONE, Stamp::new(0, 0));
    }
}
