//! Holding a mutex.

use super::super::poison::{Since, shown_as_its_value};
use super::Mutex;
use crate::channel::Owed;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The lock is held while this lives; through it the value is reached.
///
/// It may be kept across blocking calls and `await`s, and sent to another thread (if the value may), which
/// then lets the lock go.
///
/// # Panics
/// Never. Dropped by a thread that began to panic, or to unwind because it is cancelled, while this lived, it
/// poisons the mutex.
#[must_use = "the lock is let go at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    since: Since,
    /// It is sent and shared as this would be.
    value: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// # Safety
    /// The caller has HELD of this mutex, and gives it up to the guard.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn new(mutex: &'a Mutex<T>) -> Self {
        Self { mutex, since: Since::now(), value: PhantomData }
    }

    /// Drops the guard where no code of the program may run: see `Mutex::unlock_quietly`. The caller does not
    /// unwind.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sync) fn unlock_quietly(guard: Self) -> Option<Owed> {
        std::mem::ManuallyDrop::new(guard).mutex.unlock_quietly()
    }

    /// As `new`, for the models.
    ///
    /// # Safety
    /// As for `new`.
    #[cfg(all(test, loom))]
    pub(crate) unsafe fn held(mutex: &'a Mutex<T>) -> Self {
        // SAFETY: as promised by the caller.
        unsafe { Self::new(mutex) }
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
        // SAFETY: HELD is ours.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: HELD is ours, and the guard is borrowed exclusively.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.mutex.poison.set_if_unwinding(self.since);
        self.mutex.unlock();
    }
}

shown_as_its_value!(MutexGuard);
