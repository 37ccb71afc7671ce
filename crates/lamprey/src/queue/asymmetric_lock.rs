//! An asymmetric lock, biased to its owner: a value of one kernel thread, the owner, which other threads may
//! visit now and then. The owner uses no read-modify-write.
//!
//! # States
//! The value is free, used by the owner (`busy`), or used by the holder of `lock` (a visitor, or an owner
//! that has found `visited` set).
//!
//! # Invariants
//! 1. The value is accessed only (a) by the owner with `busy` set and `visited` read as false afterwards, or
//!    (b) under `lock`, by a visitor that has set `visited`, passed the heavy barrier and then seen `busy`
//!    clear, or by the owner.
//! 2. The owner never waits for the lock with `busy` set; a visitor waits for `busy` with the lock held: no
//!    deadlock.
//! 3. A section runs no code of the program, does not switch and does not panic.
//!
//! # Who may touch what
//! Owner: [`AsymmetricLock::as_owner`]. Any thread: [`AsymmetricLock::visit`].
//!
//! # Orderings
//! The owner stores `busy = true`, passes the light barrier and loads `visited`; a visitor stores `visited =
//! true`, passes the heavy barrier and loads `busy`. At least one of the two sees the other (StoreLoad on
//! both sides). Every store to `busy` is Release and the visitor's load Acquire, so the visitor sees the
//! owner's last section; `visited = false` is Release and pairs with the owner's Acquire load, so the owner
//! sees what the visitor did. The lock orders the rest.
//!
//! # Rejected
//! * A CAS in each of the owner's sections (Go, tokio): 9 ns against 2.
//! * A request by the visitor that the owner answers at its next scheduling point: an owner in a long
//!   computation answers late; four one-second hosts on two workers took three seconds. Here the owner need
//!   not answer, and its sections are as cheap.
//! # Checked by
//! `model::steal_queue` (loom, with broken variants that it catches), `tests/stress/mixed.rs`.

use crate::sync_shim::{
    AtomicBool, Mutex, Ordering, UnsafeCell, heavy_barrier, left_out, light_barrier, relax,
};

/// A value with an owner, and a lock for visitors.
#[derive(Debug)]
pub(crate) struct AsymmetricLock<T> {
    busy: AtomicBool,
    visited: AtomicBool,
    value: UnsafeCell<T>,
    lock: Mutex<()>,
}

// SAFETY: the value is reached only under invariant 1, by one kernel thread at a time.
unsafe impl<T: Send> Sync for AsymmetricLock<T> {}

impl<T> AsymmetricLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            busy: AtomicBool::new(false),
            visited: AtomicBool::new(false),
            value: UnsafeCell::new(value),
            lock: Mutex::new(()),
        }
    }

    /// Runs `section` on the value as the owner.
    ///
    /// # Safety
    /// Only the owning kernel thread calls this, never from within a section of the same value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn as_owner<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        // Release pairs with the Acquire load of `busy` in `visit`. This store too: a visitor that reads it
        // sees the owner's earlier sections.
        self.busy.store(true, Ordering::Release);
        light_barrier();
        // Acquire pairs with the Release `visited = false` in `visit`: the owner sees the visitor's changes.
        if !self.visited.load(Ordering::Acquire) {
            // SAFETY: invariant 1 (a): `busy` is set, and `visited` was false afterwards.
            let result = self.value.with_mut(|value| section(unsafe { &mut *value }));
            // Release pairs with the Acquire load of `busy` in `visit`.
            self.busy.store(false, Ordering::Release);
            return result;
        }
        // Release pairs with the Acquire load of `busy` in `visit`: the waiting visitor may continue.
        self.busy.store(false, Ordering::Release);
        self.behind_visitor(section)
    }

    #[cold]
    fn behind_visitor<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        let _held = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: invariant 1 (b): the lock is held, and the owner (this thread) is not in its fast section.
        self.value.with_mut(|value| section(unsafe { &mut *value }))
    }

    /// Runs `section` on the value, on any thread. Expensive: the heavy barrier interrupts every CPU on which
    /// the process runs.
    pub(crate) fn visit<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        let _held = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Release: publishes nothing; the heavy barrier orders it before the load of `busy` (StoreLoad).
        self.visited.store(true, Ordering::Release);
        heavy_barrier();
        let mut spins = 0;
        // Acquire pairs with every Release store to `busy` in `as_owner`.
        while self.busy.load(Ordering::Acquire) && !left_out!(NoWait) {
            relax(&mut spins);
        }
        // SAFETY: invariant 1 (b): lock held, `visited` set, heavy barrier passed, `busy` seen clear.
        let result = self.value.with_mut(|value| section(unsafe { &mut *value }));
        // Release pairs with the Acquire load of `visited` in `as_owner`.
        self.visited.store(false, Ordering::Release);
        result
    }
}
