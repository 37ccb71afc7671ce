//! A lock for many readers or one writer, which may be held across blocking calls.
//!
//! The rules are in `sharing`, the guards in `guard`, the events in `event`.
//!
//! # Checked by
//! `model::rwlock` (loom), `tests/sync/rwlock.rs`.

mod event;
mod guard;
mod sharing;

pub use self::event::RwLockEvt;
pub use self::guard::{Reading, RwLockReadGuard, RwLockWriteGuard, Writing};

use self::guard::RwMode;
use self::sharing::Sharing;
use super::err::{LockError, LockTimeoutError, Poisoned, TryLockError};
use super::line::{Line, LineEnd};
use super::order::{Id, Site};
use super::poison::{self, Poison};
use super::policy::LockOptions;
use crate::events::protocol::Synced;
use crate::sched::coop;
use crate::time;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::IntoFuture;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::time::Duration;

/// What [`RwLock::read`], its future and its event give: a guard, or an error that may have it.
pub type ReadResult<'a, T> = Result<RwLockReadGuard<'a, T>, LockError<RwLockReadGuard<'a, T>>>;
/// What [`RwLock::write`], its future and its event give: a guard, or an error that may have it.
pub type WriteResult<'a, T> = Result<RwLockWriteGuard<'a, T>, LockError<RwLockWriteGuard<'a, T>>>;

/// A value that many threads may read at once, or one may change: `std`'s `RwLock` for hosts, parasites and
/// OS threads, which waits without holding up the worker and may be held across blocking calls.
///
/// It is fair: threads are served in order of arrival, and readers that wait next to each other go together.
/// (So a thread that holds it to read must not take it again: a writer may have come in between, and both
/// would wait for ever. Debug builds report that, as they report locks that are taken in different orders:
/// see the environment variable
/// `LAMPREY_LOCK_ORDER` in [`sync`](super).)
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use lamprey::sync::RwLock;
///
/// lamprey::run(|| {
///     let table = Arc::new(RwLock::new(vec![1]));
///     let hosts: Vec<_> = (0..4)
///         .map(|n| {
///             let table = table.clone();
///             lamprey::spawn(move || {
///                 table.write().unwrap().push(n);
///                 table.read().unwrap().len()
///             })
///         })
///         .collect();
///     assert!(hosts.into_iter().all(|host| host.join().unwrap() >= 2));
///     assert_eq!(table.read().unwrap().len(), 5);
/// });
/// ```
///
/// # Cancellation
/// A cancelled host that holds the lock to write unwinds, and so **poisons** it, as a panic does. (The future
/// of a parasite is dropped without unwinding: its guards poison nothing.) Readers poison nothing.
#[doc(alias = "RWMutex")]
pub struct RwLock<T: ?Sized> {
    line: Line<Sharing>,
    poison: Poison,
    id: Id,
    value: UnsafeCell<T>,
}

// SAFETY: the value moves with the lock.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: the value is reached by one writer, on any thread (`Send`), or by many readers (`Sync`).
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

// A panic of a writer shows as poison.
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    crate::sync_shim::const_fn! {
        /// A lock that no thread holds, with the default [`LockOptions`].
        ///
        /// # Examples
        /// ```
        /// static TABLE: lamprey::sync::RwLock<Vec<u8>> = lamprey::sync::RwLock::new(Vec::new());
        /// assert!(TABLE.read().unwrap().is_empty());
        /// ```
        #[track_caller]
        pub const fn new(value: T) -> Self {
            Self::with_options(value, LockOptions::new())
        }
    }

    crate::sync_shim::const_fn! {
        /// A lock that no thread holds, with other policies than the default ones.
        ///
        /// # Examples
        /// ```
        /// use lamprey::sync::{LockOptions, Order, RwLock};
        /// static LATEST_FIRST: RwLock<u32> = RwLock::with_options(5, LockOptions::new().order(Order::Lifo));
        /// assert_eq!(*LATEST_FIRST.read().unwrap(), 5);
        /// ```
        #[track_caller]
        pub const fn with_options(value: T, options: LockOptions) -> Self {
            Self {
                line: Line::new(Sharing::new(), options.order, options.wake),
                poison: Poison::new(),
                id: Id::new(),
                value: UnsafeCell::new(value),
            }
        }
    }

    /// The value.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(lamprey::sync::RwLock::new(5).into_inner().unwrap(), 5);
    /// ```
    ///
    /// # Errors
    /// [`Poisoned`], with the value in it.
    pub fn into_inner(self) -> Result<T, Poisoned<T>> {
        self.poison.check(self.value.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock to read, with others, waiting for it if need be.
    ///
    /// # Examples
    /// See [`RwLock`].
    ///
    /// # Errors
    /// [`LockError::Poisoned`] with the guard, if a writer has panicked or was cancelled;
    /// [`LockError::Unwinding`] if it would have to wait on a host that unwinds.
    ///
    /// # Cancellation
    /// The commit point is when the lock is taken for this call, also while it is blocked. A host that is
    /// cancelled while it waits unwinds from here and holds nothing: a lock that it was handed just then
    /// goes to the next waiter.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. A host that unwinds does not wait.
    #[doc(alias = "RLock")]
    #[inline]
    #[track_caller]
    pub fn read(&self) -> ReadResult<'_, T> {
        self.take::<Reading>(Location::caller())
    }

    /// [`read`](Self::read), if that needs no wait.
    ///
    /// # Examples
    /// ```
    /// let lock = lamprey::sync::RwLock::new(5);
    /// let (a, b) = (lock.try_read().unwrap(), lock.try_read().unwrap());
    /// assert_eq!(*a + *b, 10);
    /// assert!(lock.try_write().is_err());
    /// ```
    ///
    /// # Errors
    /// [`TryLockError`]: also if no thread writes, but one waits to write.
    ///
    /// # Blocking
    /// Never. A host that [tries in vain](crate#what-to-know-before-trusting-it) for long lets others run.
    #[inline]
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError<RwLockReadGuard<'_, T>>> {
        self.try_take::<Reading>(Location::caller())
    }

    /// [`read`](Self::read), waiting at most `timeout`.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// let lock = lamprey::sync::RwLock::new(5);
    /// let writer = lock.write().unwrap();
    /// assert!(lock.read_timeout(Duration::from_millis(1)).is_err());
    /// # drop(writer);
    /// ```
    ///
    /// # Errors
    /// [`LockTimeoutError`]. After [`TimedOut`](LockTimeoutError::TimedOut) nothing is held.
    ///
    /// # Cancellation
    /// As for [`read`](Self::read).
    ///
    /// # Blocking
    /// As for [`read`](Self::read).
    #[doc(alias = "try_read_for")]
    #[track_caller]
    pub fn read_timeout(
        &self,
        timeout: Duration,
    ) -> Result<RwLockReadGuard<'_, T>, LockTimeoutError<RwLockReadGuard<'_, T>>> {
        self.take_in::<Reading>(timeout, Location::caller())
    }

    /// [`read`](Self::read) for async code. The guard may be kept across an `await`, and travels with a
    /// `Send` parasite.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let lock = lamprey::sync::RwLock::new(5);
    /// assert_eq!(lamprey::wait(async { *lock.read_async().await.unwrap() }), 5);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it leaves the line; a lock that it was handed just then
    /// goes to the next waiter.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    #[track_caller]
    pub fn read_async(&self) -> Synced<RwLockEvt<'_, T, Reading>> {
        self.read_evt().into_future()
    }

    /// [`read`](Self::read) as an event.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose};
    /// # lamprey::run(|| {
    /// let (a, b) = (lamprey::sync::RwLock::new('a'), lamprey::sync::RwLock::new('b'));
    /// let _writer = a.write().unwrap();
    /// assert_eq!(*choose([a.read_evt(), b.read_evt()]).sync().unwrap(), 'b');
    /// # });
    /// ```
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Cancellation
    /// If another event is chosen, or the thread is cancelled, the lock is not held.
    #[track_caller]
    pub fn read_evt(&self) -> RwLockEvt<'_, T, Reading> {
        RwLockEvt::new(self, Location::caller())
    }

    /// Takes the lock to write, alone, waiting for it if need be.
    ///
    /// # Examples
    /// See [`RwLock`].
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Cancellation
    /// As for [`read`](Self::read).
    ///
    /// # Blocking
    /// As for [`read`](Self::read).
    #[inline]
    #[track_caller]
    pub fn write(&self) -> WriteResult<'_, T> {
        self.take::<Writing>(Location::caller())
    }

    /// [`write`](Self::write), if that needs no wait.
    ///
    /// # Examples
    /// See [`try_read`](Self::try_read).
    ///
    /// # Errors
    /// [`TryLockError`].
    ///
    /// # Blocking
    /// Never. A host that [tries in vain](crate#what-to-know-before-trusting-it) for long lets others run.
    #[inline]
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError<RwLockWriteGuard<'_, T>>> {
        self.try_take::<Writing>(Location::caller())
    }

    /// [`write`](Self::write), waiting at most `timeout`.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// let lock = lamprey::sync::RwLock::new(5);
    /// *lock.write_timeout(Duration::from_secs(1)).unwrap() += 1;
    /// assert_eq!(*lock.read().unwrap(), 6);
    /// ```
    ///
    /// # Errors
    /// As for [`read_timeout`](Self::read_timeout).
    ///
    /// # Cancellation
    /// As for [`read`](Self::read).
    ///
    /// # Blocking
    /// As for [`read`](Self::read).
    #[doc(alias = "try_write_for")]
    #[track_caller]
    pub fn write_timeout(
        &self,
        timeout: Duration,
    ) -> Result<RwLockWriteGuard<'_, T>, LockTimeoutError<RwLockWriteGuard<'_, T>>> {
        self.take_in::<Writing>(timeout, Location::caller())
    }

    /// [`write`](Self::write) for async code. The guard may be kept across an `await`, and travels with a
    /// `Send` parasite.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let lock = lamprey::sync::RwLock::new(5);
    /// lamprey::wait(async { *lock.write_async().await.unwrap() += 1 });
    /// assert_eq!(lock.into_inner().unwrap(), 6);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Cancellation
    /// As for [`read_async`](Self::read_async).
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    #[track_caller]
    pub fn write_async(&self) -> Synced<RwLockEvt<'_, T, Writing>> {
        self.write_evt().into_future()
    }

    /// [`write`](Self::write) as an event.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// # lamprey::run(|| {
    /// let lock = lamprey::sync::RwLock::new(5);
    /// let reader = lock.read().unwrap();
    /// let limited = choose((lock.write_evt().wrap(|_| "written"), timeout(Duration::from_millis(1)).wrap(|()| "read")));
    /// assert_eq!(limited.sync(), "read");
    /// # drop(reader);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Cancellation
    /// As for [`read_evt`](Self::read_evt).
    #[track_caller]
    pub fn write_evt(&self) -> RwLockEvt<'_, T, Writing> {
        RwLockEvt::new(self, Location::caller())
    }

    /// The value, of a lock that no other thread can reach.
    ///
    /// # Examples
    /// ```
    /// let mut lock = lamprey::sync::RwLock::new(5);
    /// *lock.get_mut().unwrap() += 1;
    /// assert_eq!(lock.into_inner().unwrap(), 6);
    /// ```
    ///
    /// # Errors
    /// [`Poisoned`], with the reference in it.
    pub fn get_mut(&mut self) -> Result<&mut T, Poisoned<&mut T>> {
        self.poison.check(self.value.get_mut())
    }

    /// True if a thread has panicked, or was cancelled, while it held the lock to write.
    ///
    /// # Examples
    /// ```
    /// let lock = lamprey::sync::RwLock::new(5);
    /// let _ = std::panic::catch_unwind(|| {
    ///     let _guard = lock.write().unwrap();
    ///     panic!("in the middle");
    /// });
    /// assert!(lock.is_poisoned() && lock.read().is_err());
    /// lock.clear_poison();
    /// assert!(lock.read().is_ok());
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_poisoned(&self) -> bool {
        coop::look();
        self.poison.is_set()
    }

    /// Says that the value is in order again; see [`is_poisoned`](Self::is_poisoned).
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    #[inline]
    fn take<M: RwMode>(&self, site: Site) -> Result<M::Guard<'_, T>, LockError<M::Guard<'_, T>>> {
        coop::turn();
        M::before(self, site);
        // First without a wait node, and without the look at the calling thread that one takes.
        if self.line.try_acquire(M::WANT).is_none() {
            let LineEnd::Has(_) = self.line.acquire(M::WANT, None, self.id.on(M::REASON)) else {
                return Err(LockError::Unwinding);
            };
        }
        self.guard::<M>(Some(site)).map_err(LockError::Poisoned)
    }

    #[inline]
    fn try_take<M: RwMode>(&self, site: Site) -> Result<M::Guard<'_, T>, TryLockError<M::Guard<'_, T>>> {
        // As for a mutex: what is in it may be what the caller waits for.
        coop::look();
        if self.line.try_acquire(M::WANT).is_none() {
            return coop::looked(Err(TryLockError::WouldBlock), Result::is_err);
        }
        self.guard::<M>(Some(site)).map_err(TryLockError::Poisoned)
    }

    fn take_in<M: RwMode>(
        &self,
        timeout: Duration,
        site: Site,
    ) -> Result<M::Guard<'_, T>, LockTimeoutError<M::Guard<'_, T>>> {
        coop::turn();
        match self.line.acquire(M::WANT, time::deadline(timeout), self.id.on(M::REASON)) {
            LineEnd::Has(_) => self.guard::<M>(Some(site)).map_err(LockTimeoutError::Poisoned),
            LineEnd::TimedOut => Err(LockTimeoutError::TimedOut),
            LineEnd::Unwinding => Err(LockTimeoutError::Unwinding),
        }
    }

    /// The guard of what has just been taken as `M` wants it, by the calling thread at `site` or for a
    /// future.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn guard<M: RwMode>(&self, site: Option<Site>) -> Result<M::Guard<'_, T>, Poisoned<M::Guard<'_, T>>> {
        // SAFETY: the line has given the caller what `M` wants, and the guard owns that from now on.
        let guard = unsafe { M::guard(self, site) };
        self.poison.check(guard)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        poison::show(f, "RwLock", self.try_read(), &self.poison)
    }
}
