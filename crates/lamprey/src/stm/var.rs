//! The memory of a variable.
//!
//! # States
//! ```text
//! unused --new--> alive --the last handle goes--> dying --retire--> unused
//! ```
//! and, of its word, those of [`stamp`](super::stamp).
//!
//! # Invariants
//! 1. The memory of a variable is never given back to the allocator, only used for other variables
//!    ([`pool`](super::pool)), and its stamp changes between two uses. So a transaction keeps plain pointers to
//!    what it has read and written: one that is out of date meets a stamp that is not the one it knows. Only
//!    the word may be touched through such a pointer.
//! 2. The value and the stamp change only while COMMITTING or PEEKED is set, and by the thread that set it.
//!    A thread that has set PEEKED waits for nothing, runs no code of the program, and clears it soon.
//! 3. `refs` counts handles and queued nodes. What is 0 stays 0 until `new`.
//! 4. A node is queued or taken out while PEEKED is set by the thread that does it. WAITED says whether the
//!    queue is not empty.
//! 5. No code of the program runs while a flag is set: values are dropped, cloned and woken for afterwards.
//!
//! # Who may touch what
//! | field | who |
//! |---|---|
//! | `word` | everyone, at any time |
//! | `value` | reads: whoever has a handle; writes: whoever has set COMMITTING or PEEKED; `new`, the pool |
//! | `queue` | whoever has set PEEKED |
//! | `drop_value` | `new` writes; the last handle reads |
//! | `made` | `new` writes; whoever keeps a reference reads |
//!
//! # Orderings
//! A flag is set with at least Acquire, and cleared by a Release store of the word: the holders come one after
//! the other. A reader of a value in one word loads word, value, word: the Acquire of the value pairs with the
//! Release of `put`, which comes after COMMITTING was set, so a reader of a new value finds another word the
//! second time. SeqCst: see [`commit`](super::commit).
//!
//! # Rejected
//! * A reference count for each access: 10 ns for each variable of a transaction, and all readers of one
//!   variable would write to the same line.
//! * Epochs or hazard pointers for memory: a long transaction would hold up all of the first, and a value
//!   would be dropped late, a batch at a time; a sender in it would disconnect whenever that is.
//! * Epochs for values too, without the PEEKED of a reader: for the same reason.
//!
//! # Checked by
//! `model::stm`, `model::stm_retry` (loom, with broken variants), `tests/stm`.

mod life;
mod queue;

pub(super) use queue::Enqueued;

use super::stamp::{COMMITTING, PEEKED, Stamp, WAITED};
use super::value::{DropWord, Word};
use super::waiting::WaitEntry;
use crate::queue::list::List;
use crate::sched::noted::MadeAgainInDebug;
use crate::sync_shim::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, back_off, left_out};
use std::cell::Cell;
use std::ptr;

/// See the top of this file.
pub(super) struct Var {
    word: AtomicU64,
    value: AtomicPtr<()>,
    queue: List<WaitEntry>,
    refs: AtomicUsize,
    drop_value: Cell<Option<DropWord>>,
    made: MadeAgainInDebug,
}

// SAFETY: the cells are accessed under PEEKED, or by the only owner (table above); what a variable's value
// must be is asked for by `TVar`.
unsafe impl Send for Var {}
// SAFETY: as above.
unsafe impl Sync for Var {}

impl Var {
    pub(super) fn unused() -> Self {
        Self {
            word: AtomicU64::new(0),
            value: AtomicPtr::new(ptr::null_mut()),
            queue: List::new(),
            refs: AtomicUsize::new(0),
            drop_value: Cell::new(None),
            made: MadeAgainInDebug::new(),
        }
    }

    /// An unused variable becomes a new one, with one handle.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(super) fn begin(&self, value: Word, drop_value: Option<DropWord>) {
        self.drop_value.set(drop_value);
        // SAFETY: unused, so the caller's alone.
        unsafe { self.made.begin() };
        // Relaxed: the handle is handed to other threads by something that orders what came before. Through an
        // old pointer only the word is touched.
        self.value.store(value, Ordering::Relaxed);
        // Relaxed: as above.
        self.refs.store(1, Ordering::Relaxed);
    }

    /// Where it was made. For callers with a reference.
    pub(super) fn made(&self) -> &MadeAgainInDebug {
        &self.made
    }

    /// The word as it is, for a check that the stamp is still the same.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn word(&self) -> u64 {
        // SeqCst: StoreLoad race of two commits, each of which has locked what the other has read; see
        // `commit`.
        self.word.load(Ordering::SeqCst)
    }

    /// The stamp, when no commit is at it. Others may be at once after.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn stamp(&self) -> Stamp {
        let word = self.word();
        if word & COMMITTING == 0 { Stamp::of(word) } else { self.stamp_slowly() }
    }

    #[cold]
    #[inline(never)]
    fn stamp_slowly(&self) -> Stamp {
        let mut rounds = 0;
        loop {
            back_off(&mut rounds);
            let word = self.word();
            if word & COMMITTING == 0 {
                return Stamp::of(word);
            }
        }
    }

    /// The value of a variable whose value is the word itself, and its stamp.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read(&self) -> (Word, Stamp) {
        loop {
            let stamp = self.stamp();
            // Acquire pairs with the Release store in `put`.
            let value = self.value.load(Ordering::Acquire);
            // Relaxed: ordered after the value by its Acquire.
            let after = self.word.load(Ordering::Relaxed);
            if Stamp::of(after) == stamp && after & COMMITTING == 0 || left_out!(StmTorn) {
                return (value, stamp);
            }
        }
    }

    /// The value, and its stamp, for `f` to take a share of it: PEEKED is set, so it does not go meanwhile.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read_shared<R>(&self, f: impl FnOnce(Word) -> R) -> (R, Stamp) {
        let word = self.peek();
        // Relaxed: under PEEKED.
        let shared = f(self.value.load(Ordering::Relaxed));
        self.free(word);
        (shared, Stamp::of(word))
    }

    /// Sets PEEKED; the word without it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn peek(&self) -> u64 {
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if word & (COMMITTING | PEEKED) == 0
            // SeqCst, which is Acquire too: pairs with the Release in `free`; and StoreLoad, as in `word`: a
            // read that begins after a commit must see what that one has seen.
            && self.word.compare_exchange(word, word | PEEKED, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        {
            return word;
        }
        self.peek_slowly()
    }

    #[cold]
    #[inline(never)]
    fn peek_slowly(&self) -> u64 {
        let mut rounds = 0;
        loop {
            back_off(&mut rounds);
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if word & (COMMITTING | PEEKED) == 0
                // SeqCst: as in `peek` (StoreLoad), and Acquire pairs with the Release in `free`.
                && self.word.compare_exchange(word, word | PEEKED, Ordering::SeqCst, Ordering::Relaxed).is_ok()
            {
                return word;
            }
        }
    }

    /// Ends PEEKED or COMMITTING: `word` is the new one, without flags but WAITED.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn free(&self, word: u64) {
        debug_assert!(word & (COMMITTING | PEEKED) == 0);
        // Release pairs with the Acquire of whoever reads the word next.
        self.word.store(word, Ordering::Release);
    }

    /// Sets COMMITTING, if the stamp is still this one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lock(&self, stamp: Stamp) -> bool {
        let mut rounds = 0;
        loop {
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if Stamp::of(word) != stamp && !left_out!(StmStamp) || word & COMMITTING != 0 {
                return false;
            }
            if word & PEEKED == 0
                // SeqCst: StoreLoad race of two commits, against the load in `word`; see `commit`. Acquire
                // pairs with the Release in `free`.
                && self.word.compare_exchange(word, word | COMMITTING, Ordering::SeqCst, Ordering::Relaxed).is_ok()
            {
                return true;
            }
            if word & PEEKED != 0 {
                back_off(&mut rounds);
            }
        }
    }

    /// Replaces the value; COMMITTING is set by the caller.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn put(&self, value: Word) -> Word {
        // Relaxed: only the caller writes.
        let before = self.value.load(Ordering::Relaxed);
        // Release pairs with the Acquire load in `read`: after COMMITTING was set.
        self.value.store(value, Ordering::Release);
        before
    }

    /// Ends COMMITTING with a new stamp, or with the old one; true if nodes are queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn unlock(&self, stamp: Stamp) -> bool {
        // Relaxed: while COMMITTING is set, only its holder changes the word.
        let waited = self.word.load(Ordering::Relaxed) & WAITED;
        self.free(stamp.word() | waited);
        waited != 0
    }
}
