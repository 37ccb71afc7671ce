//! Holding a mutex.

use super::super::poison::{Since, shown_as_its_value};
use super::Mutex;
use crate::channel::PendingWake;
use crate::sched::coop;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Holds the lock while it lives, and gives access to the value.
///
/// It may be kept across blocking calls and `await`s, and sent to another thread (if the value may), which
/// then releases the lock.
///
/// # Panics
/// Never. A thread that began to panic, or to unwind because it was cancelled, while the guard lived, poisons
/// the mutex when it drops the guard.
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    since: Since,
    /// The scheduler is to be told when the lock is released ([`coop::turn_of_lock`]).
    is_reported: bool,
    /// For `Send` and `Sync`: the guard is as this reference.
    value: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// # Safety
    /// The caller has HELD of this mutex, and passes it to the guard.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn new(mutex: &'a Mutex<T>, is_reported: bool) -> Self {
        Self { mutex, since: Since::now(), is_reported, value: PhantomData }
    }

    /// Drops the guard where no code of the program may run: see `Mutex::unlock_quietly`. The caller does not
    /// unwind.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sync) fn unlock_quietly(guard: Self) -> Option<PendingWake> {
        std::mem::ManuallyDrop::new(guard).mutex.unlock_quietly()
    }

    /// `new`, for the models.
    ///
    /// # Safety
    /// The caller has HELD of this mutex, and passes it to the guard.
    #[cfg(all(test, loom))]
    pub(crate) unsafe fn held(mutex: &'a Mutex<T>) -> Self {
        // SAFETY: as promised by the caller.
        unsafe { Self::new(mutex, false) }
    }

    /// The mutex that is held.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sync) fn mutex(guard: &Self) -> &'a Mutex<T> {
        guard.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &T {
        // SAFETY: the guard has HELD, so no other thread reaches the value.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has HELD and is borrowed exclusively.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.mutex.poison.set_if_unwinding(self.since);
        self.mutex.unlock();
        if self.is_reported {
            coop::released();
        }
    }
}

shown_as_its_value!(MutexGuard);
