//! libc's mutex and condition variable, wrapped like std's.

use libc::{PTHREAD_COND_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, pthread_cond_t, pthread_mutex_t};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A `pthread_mutex_t` of the default kind, and the value that it protects. On Linux an unlocked one may be
/// moved.
pub struct Mutex<T> {
    raw: UnsafeCell<pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that has locked the mutex reaches the value; any thread may use libc's mutex.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: no thread waits for a mutex that is moved, because waiting borrows it; an unlocked libc mutex
// belongs to no thread.
unsafe impl<T: Send> Send for Mutex<T> {}

/// Keeps the mutex locked until it is dropped, on the thread that made it: it is not `Send`.
pub struct Guard<'a, T>(&'a Mutex<T>, PhantomData<*const ()>);

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub fn new(value: T) -> Self {
        Self { raw: UnsafeCell::new(PTHREAD_MUTEX_INITIALIZER), value: UnsafeCell::new(value) }
    }

    /// Locks, waiting if necessary.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        // SAFETY: it is initialised, and does not move while the guard borrows it.
        let answer = unsafe { libc::pthread_mutex_lock(self.raw.get()) };
        assert_eq!(answer, 0);
        Guard(self, PhantomData)
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread has locked it, because a guard does not leave its thread.
        unsafe { libc::pthread_mutex_unlock(self.0.raw.get()) };
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread has the mutex locked.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the mutex locked, and the reference borrows the guard mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

/// `pthread_cond_t`.
pub struct Condvar(UnsafeCell<pthread_cond_t>);

// SAFETY: any thread may use a condition variable.
unsafe impl Sync for Condvar {}
// SAFETY: no thread waits on one that is moved, because waiting borrows it.
unsafe impl Send for Condvar {}

impl Condvar {
    /// A condition variable without waiters.
    pub fn new() -> Self {
        Self(UnsafeCell::new(PTHREAD_COND_INITIALIZER))
    }

    /// Unlocks, waits for a notification, and locks again.
    pub fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        // SAFETY: both are initialised and borrowed; the guard says that this thread has locked the mutex,
        // and it has it locked again afterwards.
        let answer = unsafe { libc::pthread_cond_wait(self.0.get(), guard.0.raw.get()) };
        assert_eq!(answer, 0);
        guard
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        // SAFETY: it is initialised and borrowed.
        unsafe { libc::pthread_cond_signal(self.0.get()) };
    }
}
