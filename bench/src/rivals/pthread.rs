//! The mutex and the condition variable of libc, as std would wrap them.

use libc::{PTHREAD_COND_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, pthread_cond_t, pthread_mutex_t};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// `pthread_mutex_t` of the default kind, and what it protects. On Linux an unlocked one may be moved.
pub struct Mutex<T> {
    raw: UnsafeCell<pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by the thread that has the mutex locked, one at a time; libc's mutex may be
// used by all.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: nobody waits for a mutex that is moved, as waiting borrows it; libc's has no thread of its own.
unsafe impl<T: Send> Send for Mutex<T> {}

/// Until it is dropped the mutex is locked. It must be dropped where it was made: it is not `Send`.
pub struct Guard<'a, T>(&'a Mutex<T>, PhantomData<*const ()>);

impl<T> Mutex<T> {
    /// Unlocked.
    pub fn new(value: T) -> Self {
        Self { raw: UnsafeCell::new(PTHREAD_MUTEX_INITIALIZER), value: UnsafeCell::new(value) }
    }

    /// Waits until it is free.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        // SAFETY: it is initialised, and stays where it is for as long as the guard borrows it.
        let answer = unsafe { libc::pthread_mutex_lock(self.raw.get()) };
        assert_eq!(answer, 0);
        Guard(self, PhantomData)
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread has locked it: a guard does not leave its thread.
        unsafe { libc::pthread_mutex_unlock(self.0.raw.get()) };
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the mutex is locked by us.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the mutex is locked by us, and the guard is borrowed for as long.
        unsafe { &mut *self.0.value.get() }
    }
}

/// `pthread_cond_t`.
pub struct Condvar(UnsafeCell<pthread_cond_t>);

// SAFETY: it is there to be used by all.
unsafe impl Sync for Condvar {}
// SAFETY: nobody waits on one that is moved, as waiting borrows it.
unsafe impl Send for Condvar {}

impl Condvar {
    /// Nobody waits.
    pub fn new() -> Self {
        Self(UnsafeCell::new(PTHREAD_COND_INITIALIZER))
    }

    /// Unlocks, waits for a notification, locks.
    pub fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        // SAFETY: both are initialised and borrowed; the mutex is locked by this thread, as there is a guard,
        // and is again afterwards.
        let answer = unsafe { libc::pthread_cond_wait(self.0.get(), guard.0.raw.get()) };
        assert_eq!(answer, 0);
        guard
    }

    /// Wakes one.
    pub fn notify_one(&self) {
        // SAFETY: it is initialised and borrowed.
        unsafe { libc::pthread_cond_signal(self.0.get()) };
    }
}
