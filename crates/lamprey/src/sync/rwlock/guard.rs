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

/// Others may read while this lives, and nobody writes.
///
/// It may be kept across blocking calls and `await`s, and sent to another thread, which then lets the lock
/// go.
#[must_use = "the lock is let go at once if the guard is not kept"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    _held: Shared,
    /// It is sent and shared as this would be.
    value: PhantomData<&'a T>,
}

/// Nobody else reads or writes while this lives; through it the value is reached.
///
/// It may be kept across blocking calls and `await`s, and sent to another thread, which then lets the lock
/// go. Dropped by a thread that began to panic, or to unwind because it is cancelled, while this lived, it
/// poisons the lock.
#[must_use = "the lock is let go at once if the guard is not kept"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    since: Since,
    /// It is sent and shared as this would be.
    value: PhantomData<&'a mut T>,
}

/// In which way a lock is taken, and what holds it then. (Not a trait of the guards: a type that names a
/// lifetime twice is too much for the check whether a future is `Send`.)
pub trait RwMode {
    type Guard<'a, T: ?Sized + 'a>;
    const WANT: u32;
    const REASON: Wait;

    /// The calling thread is going to wait for it.
    fn before<T: ?Sized>(lock: &RwLock<T>, site: Site);

    /// `site`: where the calling thread has taken it; none for a future.
    ///
    /// # Safety
    /// The caller has got `WANT` of the lock's line, and gives it up to the guard.
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
    /// As for [`RwMode::guard`].
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
    /// As for [`RwMode::guard`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn guard<'a, T: ?Sized>(lock: &'a RwLock<T>, site: Option<Site>) -> RwLockWriteGuard<'a, T> {
        if let Some(site) = site {
            lock.id.locked(site);
        }
        RwLockWriteGuard { lock, since: Since::now(), value: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// From now on the lock is held to read; nobody writes in between.
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
        // SAFETY: counted just now.
        unsafe { Reading::guard(lock, Some(Location::caller())) }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while we read.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &T {
        // SAFETY: HELD is ours.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: HELD is ours, and the guard is borrowed exclusively.
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
