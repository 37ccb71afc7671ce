//! The threads of a worker that have not started yet: the only ones that may travel.
//!
//! # States
//! The ring is free, in the owner's hands (`busy`), or in the hands of whoever holds `lock` (a thief, or an owner
//! that found a thief about).
//!
//! # Invariants
//! 1. The ring is touched only (a) by the owner with `busy` set and `thief` read as false afterwards, or (b) under
//!    `lock`, by a thief that has set `thief`, passed the heavy barrier and then seen `busy` clear, or by the owner.
//! 2. `head` and `tail` mirror the ring's counters after each change, so that a thief can look without taking.
//! 3. The owner never waits for the lock with `busy` set; a thief waits for `busy` with the lock held: no deadlock.
//!
//! # Who may touch what
//! Owner: `push`, `pop`, `is_empty`. Thieves: `look`, `steal`.
//!
//! # Orderings
//! Owner's `busy = true`, light barrier, load `thief` against thief's `thief = true`, heavy barrier, load `busy`: at
//! least one of the two sees the other (StoreLoad on both sides). Every store to `busy` is Release and the thief's
//! load Acquire, so the thief sees the owner's last section; `thief = false` is Release and pairs with the owner's
//! Acquire load, so the owner sees what the thief took. The lock orders the rest.
//!
//! # Rejected
//! * A CAS in `pop` (Go, tokio): 9 ns against 2 (shared/LIMITS.md part 1).
//! * A thief that asks and an owner that answers at its next scheduling point (shared/LIMITS.md): an owner in a long
//!   computation answers late, so that four one-second hosts on two workers took three seconds. Here the owner need
//!   not answer, and pays as little.
//!
//! # Checked by
//! `model::fresh` (loom, with broken variants that it catches), `tests/stress.rs`.

use super::ring::Ring;
use crate::sync_shim::{
    AtomicBool, AtomicUsize, Mutex, Ordering, UnsafeCell, heavy_barrier, light_barrier, relax,
};

/// A broken variant for the checker: the thief does not wait for the owner.
#[inline(always)]
fn is_hasty() -> bool {
    #[cfg(loom)]
    return crate::model::is_broken(crate::model::Broken::NoWait);
    #[cfg(not(loom))]
    false
}

/// What a thief saw of a queue: counters of its oldest entry and of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    pub(crate) head: usize,
    pub(crate) tail: usize,
}

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Fresh<T: Copy> {
    busy: AtomicBool,
    thief: AtomicBool,
    head: AtomicUsize,
    tail: AtomicUsize,
    ring: UnsafeCell<Ring<T>>,
    lock: Mutex<()>,
}

// SAFETY: the ring is reached only under invariant 1; `T` is a handle whose owner allows it to change kernel thread.
unsafe impl<T: Copy + Send> Sync for Fresh<T> {}

impl<T: Copy> Fresh<T> {
    pub(crate) fn new() -> Self {
        Self {
            busy: AtomicBool::new(false),
            thief: AtomicBool::new(false),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            ring: UnsafeCell::new(Ring::new()),
            lock: Mutex::new(()),
        }
    }

    /// Owner: appends an entry.
    ///
    /// # Safety
    /// Only the owning kernel thread calls this, never from within another call on this queue.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, value: T) {
        // SAFETY: the owner (contract).
        unsafe { self.as_owner(|ring| ring.push_back(value)) }
    }

    /// Owner: takes the oldest entry.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub(crate) unsafe fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: the owner (contract).
        unsafe { self.as_owner(Ring::pop_front) }
    }

    /// Owner: never true while there is an entry (only the owner adds); may be false although a thief took the last.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        let Look { head, tail } = self.look();
        head == tail
    }

    /// Anyone: where the queue begins and ends. A hint.
    #[inline(always)]
    pub(crate) fn look(&self) -> Look {
        // Relaxed: hints; `steal` and `pop` look again under invariant 1.
        let head = self.head.load(Ordering::Relaxed);
        // Relaxed: as above.
        let tail = self.tail.load(Ordering::Relaxed);
        Look { head, tail }
    }

    /// Runs `section` on the ring as the owner.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline(always)]
    unsafe fn as_owner<R>(&self, section: impl FnOnce(&mut Ring<T>) -> R) -> R {
        // Release pairs with the Acquire load of `busy` in `steal` (entry included: a thief that reads it sees our past).
        self.busy.store(true, Ordering::Release);
        light_barrier();
        // Acquire pairs with the Release `thief = false` in `steal`: we see what it took.
        if !self.thief.load(Ordering::Acquire) {
            // SAFETY: invariant 1 (a): busy is set, and no thief was about after that.
            let result = unsafe { self.section(section) };
            // Release pairs with the Acquire load of `busy` in `steal`.
            self.busy.store(false, Ordering::Release);
            return result;
        }
        // Release pairs with the Acquire load of `busy` in `steal`: the waiting thief may go on.
        self.busy.store(false, Ordering::Release);
        self.behind_thief(section)
    }

    #[cold]
    fn behind_thief<R>(&self, section: impl FnOnce(&mut Ring<T>) -> R) -> R {
        let _held = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: invariant 1 (b): the lock is held, and the owner (this thread) is not in its fast section.
        unsafe { self.section(section) }
    }

    /// Runs `section` on the ring and mirrors the counters.
    ///
    /// # Safety
    /// Invariant 1 holds for the caller.
    #[inline(always)]
    unsafe fn section<R>(&self, section: impl FnOnce(&mut Ring<T>) -> R) -> R {
        self.ring.with_mut(|ring| {
            // SAFETY: exclusive by invariant 1, and the reference ends with this closure.
            let ring = unsafe { &mut *ring };
            let result = section(ring);
            // Relaxed: hints for `look` only.
            self.head.store(ring.head(), Ordering::Relaxed);
            // Relaxed: as above.
            self.tail.store(ring.tail(), Ordering::Relaxed);
            result
        })
    }

    /// Thief: takes half (rounded up, at most `most`) of the entries that were already there at `earlier`, oldest
    /// first. Entries that are younger stay: they have not yet waited longer than a steal costs.
    pub(crate) fn steal(&self, earlier: Look, most: usize, mut each: impl FnMut(T)) -> usize {
        let _held = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Release: nothing to publish yet; the heavy barrier orders it before the load of `busy` (StoreLoad).
        self.thief.store(true, Ordering::Release);
        heavy_barrier();
        let mut spins = 0;
        // Acquire pairs with every Release store to `busy` in `as_owner`.
        while self.busy.load(Ordering::Acquire) && !is_hasty() {
            relax(&mut spins);
        }
        // SAFETY: invariant 1 (b): lock held, `thief` set, heavy barrier passed, `busy` seen clear.
        let taken = unsafe {
            self.section(|ring| {
                let aged = earlier.tail.wrapping_sub(ring.head()) as isize;
                let take = (aged.max(0) as usize).min(ring.len()).div_ceil(2).min(most);
                for _ in 0..take {
                    each(ring.pop_front().expect("counted above"));
                }
                take
            })
        };
        // Release pairs with the Acquire load of `thief` in `as_owner`.
        self.thief.store(false, Ordering::Release);
        taken
    }
}
