//! Holding a lock, to read or to write.

use super::RwLock;
use super::sharing::{READ, WRITE};
use crate::sched::Wait;
use crate::sync::order::{Shared, Site};
use crate::sync::poison::{Since, shown_as_its_value};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

/// While it lives, other threads may read and no thread writes.
///
/// It may be kept across blocking calls and `await`s, and sent to another thread, which then releases the
/// lock.
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    _held: Shared,
    /// For `Send` and `Sync`: the guard is as this reference.
    value: PhantomData<&'a T>,
}

/// Gives access to the value. While it lives, no other thread reads or writes.
///
/// It may be kept across blocking calls and `await`s, and sent to another thread, which then releases the
/// lock. A thread that began to panic, or to unwind because it was cancelled, while the guard lived, poisons
/// the lock when it drops the guard.
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    since: Since,
    /// For `Send` and `Sync`: the guard is as this reference.
    value: PhantomData<&'a mut T>,
}

/// Reading or writing: what is taken, and which guard holds it. (Not a trait of the guards: the check whether
/// a future is `Send` fails for a type that names a lifetime twice.)
pub trait RwMode {
    type Guard<'a, T: ?Sized + 'a>;
    const WANT: u32;
    const REASON: Wait;

    /// The calling thread is about to wait: for the check of the order of locks.
    fn before<T: ?Sized>(lock: &RwLock<T>, site: Site);

    /// `site`: where the calling thread has taken it; none for a future.
    ///
    /// # Safety
    /// The caller has got `WANT` of the lock's line, and passes it to the guard.
    unsafe fn guard<'a, T: ?Sized>(lock: &'a RwLock<T>, site: Option<Site>) -> Self::Guard<'a, T>;
}

/// To read: see [`RwLockEvt`](super::RwLockEvt).
#[derive(Debug)]
pub enum Reading {}

/// To write: see [`RwLockEvt`](super::RwLockEvt).
#[derive(Debug)]
pub enum Writing {}

impl RwMode for Reading {
    type Guard<'a, T: ?Sized + 'a> = RwLockReadGuard<'a, T>;
    const WANT: u32 = READ;
    const REASON: Wait = Wait::Read;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn before<T: ?Sized>(lock: &RwLock<T>, site: Site) {
        lock.id.before_shared(site);
    }

    /// # Safety
    /// The caller has got `WANT` of the lock's line, and passes it to the guard.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn guard<'a, T: ?Sized>(lock: &'a RwLock<T>, site: Option<Site>) -> RwLockReadGuard<'a, T> {
        let held = site.map_or_else(Shared::unwatched, |site| lock.id.locked_shared(site));
        RwLockReadGuard { lock, _held: held, value: PhantomData }
    }
}

impl RwMode for Writing {
    type Guard<'a, T: ?Sized + 'a> = RwLockWriteGuard<'a, T>;
    const WANT: u32 = WRITE;
    const REASON: Wait = Wait::Write;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn before<T: ?Sized>(lock: &RwLock<T>, site: Site) {
        lock.id.before_lock(site);
    }

    /// # Safety
    /// The caller has got `WANT` of the lock's line, and passes it to the guard.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn guard<'a, T: ?Sized>(lock: &'a RwLock<T>, site: Option<Site>) -> RwLockWriteGuard<'a, T> {
        if let Some(site) = site {
            lock.id.locked(site);
        }
        RwLockWriteGuard { lock, since: Since::now(), value: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Turns the guard into one that reads; no thread writes in between.
    ///
    /// # Examples
    /// ```
    /// use lamprey::sync::{RwLock, RwLockWriteGuard};
    /// let lock = RwLock::new(1);
    /// let mut writer = lock.write().unwrap();
    /// *writer += 1;
    /// let reader = RwLockWriteGuard::downgrade(writer);
    /// assert_eq!(*reader + *lock.try_read().unwrap(), 4);
    /// ```
    ///
    /// # Blocking
    /// Never.
    #[track_caller]
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let lock = ManuallyDrop::new(guard).lock;
        lock.id.unlocked();
        lock.line.change(|sharing, held, _| {
            sharing.readers = 1;
            *held = false;
        });
        // SAFETY: the reader has been counted just now.
        unsafe { Reading::guard(lock, Some(Location::caller())) }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &T {
        // SAFETY: the guard is counted as a reader, so no thread writes.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &T {
        // SAFETY: the guard has HELD, so no other thread reads or writes.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has HELD and is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.line.release(READ);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.poison.set_if_unwinding(self.since);
        self.lock.id.unlocked();
        self.lock.line.release(WRITE);
    }
}

shown_as_its_value!(RwLockReadGuard RwLockWriteGuard);
