//! [`Ring`]: the last notes of one worker, in bounded memory. The worker writes, any thread reads at any time, and nobody waits.
//!
//! # States (of the slot that note `i` goes to, of `n` slots; `head` is the number of notes written)
//! ```text
//! head <= i            the slot has note i - n, or nothing
//! head == i            the same, or the writer is about to replace its words one by one
//! i < head <= i + n    the slot has note i; from head == i + n on it may be replaced
//! ```
//!
//! # Invariants
//! 1. One kernel thread writes: the worker's.
//! 2. Who reads copies the slots first and looks at `head` again after that. If the slot of note `i` has been touched for note
//!    `i + n` before it was copied, that second look sees at least `i + n`. So the notes with `i + n <= head` are dropped, and what is left is
//!    whole. (Of a full ring the oldest note is always dropped: its words may be on their way out.)
//!
//! # Who may touch what
//! The worker writes `head` and the slots; every thread may read them.
//!
//! # Orderings
//! The words are Relaxed. The Release store of `head` pairs with the Acquire load of a reader, who then sees the words below it.
//! The Release fence before the words of a note pairs with the Acquire fence of a reader after its copies: a word of note `i + n`
//! that was read proves that `head` was `i + n` (invariant 2). On x86-64 all of them are plain moves.
//!
//! # Rejected
//! * A sequence number in each slot: two more stores for each note, where one `head` is enough, because notes are written in order.
//! * A lock, or a buffer that is handed over: the reader would wait for a worker that does not get on, and that is
//!   when somebody reads.
//!
//! # Checked by
//! `model::record` (loom, with broken variants that it catches), the tests below.

use crate::sync_shim::{AtomicU64, Ordering, fence, left_out};

/// Words of a note. (Fewer for the checker, which explores every one of them.)
pub(crate) const WORDS: usize = if cfg!(loom) { 2 } else { 4 };

/// A note, as the ring has it.
pub(crate) type Words = [u64; WORDS];

/// The last notes of one worker.
pub(crate) struct Ring {
    /// A power of two of them, or none: then nothing is kept.
    slots: Box<[[AtomicU64; WORDS]]>,
    /// The number of notes that have been written.
    head: AtomicU64,
}

/// What a reader has found.
#[derive(Debug)]
pub(crate) struct Copied {
    /// The notes that are still there, the oldest first.
    pub(crate) notes: Vec<Words>,
    /// The number of those before them, which have been overwritten.
    pub(crate) overwritten: u64,
}

impl Ring {
    /// A ring for at least so many notes; for 0, one that keeps none. Its memory is taken from the system when it is written to.
    pub(crate) fn new(notes: usize) -> Self {
        let slots = if notes == 0 { 0 } else { notes.next_power_of_two() };
        Self { slots: zeroed(slots), head: AtomicU64::new(0) }
    }

    /// True if it keeps nothing.
    pub(crate) fn is_off(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a note, in the place of the oldest one. Called by the worker's kernel thread only.
    pub(crate) fn push(&self, words: Words) {
        // Relaxed: this thread wrote it.
        let at = self.head.load(Ordering::Relaxed);
        let Some(slot) = self.slots.get(at as usize & self.slots.len().wrapping_sub(1)) else { return };
        // Release pairs with the Acquire fence in `copy`: who reads a word that is stored below sees `head` as it is now.
        fence(Ordering::Release);
        for (place, word) in slot.iter().zip(words) {
            // Relaxed: ordered by the fence above and the store below.
            place.store(word, Ordering::Relaxed);
        }
        // Release pairs with the Acquire load in `copy`.
        self.head.store(at + 1, Ordering::Release);
    }

    /// The number of notes that have been written. Asked by the worker itself.
    pub(crate) fn written(&self) -> u64 {
        // Relaxed: this thread wrote it.
        self.head.load(Ordering::Relaxed)
    }

    /// Copies the notes that are there.
    pub(crate) fn copy(&self) -> Copied {
        let slots = self.slots.len() as u64;
        // Acquire pairs with the Release store in `push`.
        let end = self.head.load(Ordering::Acquire);
        let first = end.saturating_sub(slots);
        // Relaxed: what was torn is dropped below.
        let word = |place: &AtomicU64| place.load(Ordering::Relaxed);
        let slot = |at| self.slots[at as usize & (self.slots.len() - 1)].each_ref().map(word);
        let mut notes: Vec<_> = (first..end).map(slot).collect();
        // Acquire pairs with the Release fence in `push`.
        fence(Ordering::Acquire);
        // Relaxed: ordered by the fence above.
        let now = if left_out!(RecordLook) { end } else { self.head.load(Ordering::Relaxed) };
        let dropped = (now + 1).saturating_sub(first + slots).min(notes.len() as u64);
        notes.drain(..dropped as usize);
        Copied { notes, overwritten: first + dropped }
    }
}

#[cfg(not(loom))]
fn zeroed(slots: usize) -> Box<[[AtomicU64; WORDS]]> {
    // SAFETY: all bits zero is an `AtomicU64`.
    unsafe { Box::new_zeroed_slice(slots).assume_init() }
}

#[cfg(loom)]
fn zeroed(slots: usize) -> Box<[[AtomicU64; WORDS]]> {
    (0..slots).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Each word depends on the number.
    fn note(number: u64) -> Words {
        [number, !number, number.rotate_left(17), number ^ 0x5555]
    }

    #[test]
    fn what_fits_is_kept_in_order() {
        let ring = Ring::new(3);
        assert!(ring.copy().notes.is_empty());
        for written in 1..=20 {
            ring.push(note(written - 1));
            let Copied { notes, overwritten } = ring.copy();
            // 4 slots, of which the oldest may be about to be replaced.
            assert_eq!(notes.len() as u64, if written < 4 { written } else { 3 });
            assert_eq!(overwritten + notes.len() as u64, written);
            assert!(notes.into_iter().eq((overwritten..written).map(note)));
        }
    }

    #[test]
    fn a_ring_that_is_off_keeps_nothing() {
        let ring = Ring::new(0);
        ring.push(note(7));
        assert!(ring.is_off() && ring.copy().notes.is_empty());
    }

    #[test]
    fn what_is_read_beside_the_writer_is_whole_and_in_order() {
        for size in [1, 2, 8, 1024] {
            let (ring, stop) = (Ring::new(size), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut number = 0;
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        ring.push(note(number));
                        number += 1;
                    }
                });
                let mut seen = 0;
                for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
                    let Copied { notes, overwritten } = ring.copy();
                    let end = overwritten + notes.len() as u64;
                    assert!(end >= seen, "the ring goes back");
                    assert!(notes.into_iter().eq((overwritten..end).map(note)));
                    seen = end;
                }
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            });
        }
    }
}
