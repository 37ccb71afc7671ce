//! The stealable queue of a worker: threads that have not started, which idle workers may take.
//!
//! # Invariants
//! `head` and `tail` mirror the ring's counters after each change, so that a thief can look without entering
//! a section.
//!
//! # Who may touch what
//! Owner: `push`, `next`, `pop_oldest`, `is_empty`. Thieves: `look`, `steal`. The ring is under the asymmetric lock
//! [`AsymmetricLock`], whose module has the states, orderings and rejected designs.
//!
//! # Checked by
//! `model::steal_queue` (loom, with broken variants that it catches), `tests/stress/mixed.rs`.

use super::asymmetric_lock::AsymmetricLock;
use super::generations::Generations;
use crate::sync_shim::{AtomicUsize, Ordering};

/// What a thief saw of a queue: the counters of its oldest entry and of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    pub(crate) head: usize,
    pub(crate) tail: usize,
}

/// The stealable queue of one worker.
#[derive(Debug)]
pub(crate) struct StealQueue<T: Copy> {
    head: AtomicUsize,
    tail: AtomicUsize,
    ring: AsymmetricLock<Generations<T>>,
}

impl<T: Copy> StealQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            ring: AsymmetricLock::new(Generations::new()),
        }
    }

    /// Owner: appends an entry.
    ///
    /// # Safety
    /// Only the owning kernel thread calls this, never from within another call on this queue.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn push(&self, value: T) {
        // SAFETY: the owner (contract).
        unsafe { self.as_owner(|ring| ring.push(value)) }
    }

    /// Owner: takes the first entry of the newest generation.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn next(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: the owner (contract).
        unsafe { self.as_owner(Generations::next) }
    }

    /// Owner: takes the oldest entry.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn pop_oldest(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: the owner (contract).
        unsafe { self.as_owner(Generations::pop_oldest) }
    }

    /// Owner: never true while there is an entry (only the owner adds). May be false although a thief has
    /// taken the last one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_empty(&self) -> bool {
        let Look { head, tail } = self.look();
        head == tail
    }

    /// Any thread: the counters of the beginning and the end. A hint.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn look(&self) -> Look {
        // Relaxed: hints; `steal`, `next` and `pop_oldest` read the ring again in a section.
        let head = self.head.load(Ordering::Relaxed);
        // Relaxed: a hint; `steal`, `next` and `pop_oldest` read the ring again in a section.
        let tail = self.tail.load(Ordering::Relaxed);
        Look { head, tail }
    }

    /// Runs `section` on the ring as the owner.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn as_owner<R>(&self, section: impl FnOnce(&mut Generations<T>) -> R) -> R {
        // SAFETY: the caller is the owner, and in no section of this queue (contract).
        unsafe { self.ring.as_owner(|ring| self.mirrored(ring, section)) }
    }

    /// Runs `section` and mirrors the counters.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn mirrored<R>(&self, ring: &mut Generations<T>, section: impl FnOnce(&mut Generations<T>) -> R) -> R {
        let result = section(ring);
        let (head, tail) = ring.ends();
        // Relaxed: hints for `look` only.
        self.head.store(head, Ordering::Relaxed);
        // Relaxed: a hint for `look` only.
        self.tail.store(tail, Ordering::Relaxed);
        result
    }

    /// Thief: takes half (rounded up, at most `most`) of the entries that were in the queue at `earlier`,
    /// oldest first. Younger entries stay: they have not yet waited longer than a steal costs.
    pub(crate) fn steal(&self, earlier: Look, most: usize, mut each: impl FnMut(T)) -> usize {
        self.ring.visit(|ring| {
            self.mirrored(ring, |ring| {
                let aged = earlier.tail.wrapping_sub(ring.ends().0) as isize;
                let take = (aged.max(0) as usize).min(ring.len()).div_ceil(2).min(most);
                (0..take).filter_map(|_| ring.pop_oldest()).for_each(&mut each);
                take
            })
        })
    }
}
