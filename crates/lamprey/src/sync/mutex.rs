//! A lock for one thread at a time, which may be held across blocking calls.
//!
//! The state is the line's bit HELD and nothing else, so taking and releasing cost one CAS each while no
//! thread waits.
//!
//! # Fairness
//! A thread that comes just when the mutex is released may take it past those that wait (barging): else each
//! lock of a mutex with a waiter would cost a switch to that waiter. But not for ever: a thread that is taken
//! out of the line and finds the mutex held again goes to the front, and is handed the lock at the next
//! release. So a thread is overtaken only while it is on its way from the line to the lock for the first
//! time. An offer of a choice is always handed the lock: a choice cannot try again.
//!
//! # Checked by
//! `model::mutex` (loom), `tests/sync/mutex.rs`, `tests/lock_stress.rs`.

mod event;
mod guard;

pub use self::event::LockEvt;
pub use self::guard::MutexGuard;

use super::err::{LockError, LockTimeoutError, Poisoned, TryLockError};
use super::line::{Comes, Decision, Line, LineEnd, LockKind};
use super::order::{Id, Site};
use super::poison::{self, Poison};
use super::policy::LockOptions;
use crate::channel::PendingWake;
use crate::events::protocol::Synced;
use crate::sched::parasite::task::Form;
use crate::sched::{Wait, coop};
use crate::time;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::IntoFuture;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

/// A value that one thread at a time may touch: `std`'s `Mutex` for hosts, parasites and OS threads, which
/// waits without holding up the worker and may be held across blocking calls.
///
/// # Examples
/// ```
/// use lamprey::sync::Mutex;
/// use std::sync::Arc;
///
/// let total = lamprey::run(|| {
///     let total = Arc::new(Mutex::new(0));
///     let adders: Vec<_> = (1..=10).map(|n| {
///         let total = total.clone();
///         lamprey::spawn(move || *total.lock().unwrap() += n)
///     }).collect();
///     adders.into_iter().for_each(|adder| adder.join().unwrap());
///     Arc::into_inner(total).unwrap().into_inner().unwrap()
/// });
/// assert_eq!(total, 55);
/// ```
///
/// # Cancellation
/// A cancelled host that holds a guard unwinds, and so **poisons** the mutex, as a panic does: what it was
/// doing to the value may be half done. (The future of a parasite is dropped without unwinding: its guards
/// poison nothing.)
pub struct Mutex<T: ?Sized> {
    line: Line<Exclusive>,
    poison: Poison,
    id: Id,
    value: UnsafeCell<T>,
}

// SAFETY: the value moves with the mutex.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: the value is reached by one thread at a time, which has HELD; so it goes from thread to thread, but
// is not shared.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

// A panic of a holder shows as poison.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

/// The rules: HELD, or not.
#[derive(Debug, Clone, Copy)]
pub struct Exclusive;

/// The waiter wants to be woken when the lock is free, and then tries.
const TRIES: u32 = 0;
/// The waiter wants to be handed the lock.
pub(super) const HAND_OVER: u32 = 1;

impl LockKind for Exclusive {
    fn arrive(&mut self, held: &mut bool, want: &mut u32, comes: Comes) -> bool {
        if *held && comes == Comes::Again {
            *want = HAND_OVER;
        }
        !std::mem::replace(held, true)
    }

    fn take(&mut self, held: &mut bool, want: &mut u32) -> Decision {
        match *want {
            _ if *held => Decision::Waits,
            TRIES => Decision::Tries,
            _ => {
                *held = true;
                Decision::Has
            }
        }
    }

    fn give_back(&mut self, held: &mut bool, _: u32) {
        *held = false;
    }
}

impl<T> Mutex<T> {
    crate::sync_shim::const_fn! {
        /// A mutex that no thread holds, with the default [`LockOptions`].
        #[track_caller]
        pub const fn new(value: T) -> Self {
            Self::with_options(value, LockOptions::new())
        }
    }

    crate::sync_shim::const_fn! {
        /// A mutex that no thread holds, with other policies than the default ones.
        ///
        /// # Examples
        /// ```
        /// use lamprey::sync::{LockOptions, Mutex, Order};
        /// static LATEST_FIRST: Mutex<u32> = Mutex::with_options(5, LockOptions::new().order(Order::Lifo));
        /// assert_eq!(*LATEST_FIRST.lock().unwrap(), 5);
        /// ```
        #[track_caller]
        pub const fn with_options(value: T, options: LockOptions) -> Self {
            Self {
                line: Line::with_bias(Exclusive, options.order, options.wake, options.bias()),
                poison: Poison::new(),
                id: Id::new(),
                value: UnsafeCell::new(value),
            }
        }
    }

    /// The value.
    ///
    /// # Errors
    /// [`Poisoned`], with the value in it.
    pub fn into_inner(self) -> Result<T, Poisoned<T>> {
        self.poison.check(self.value.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, waiting for it if need be.
    ///
    /// # Errors
    /// [`LockError::Poisoned`] with the guard, if a holder has panicked or was cancelled;
    /// [`LockError::Unwinding`] if it is held and the calling host unwinds.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here if it would have to wait, and holds nothing then: a lock that it
    /// was handed just then goes to the next waiter. If the lock is free it is taken, and the next blocking
    /// call unwinds.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. A host that unwinds does not wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, LockError<MutexGuard<'_, T>>> {
        let is_reported = coop::turn_of_lock();
        let site = Location::caller();
        self.id.before_lock(site);
        self.lock_in_order(site, is_reported)
    }

    /// [`lock`](Self::lock), if the mutex is free.
    ///
    /// # Errors
    /// [`TryLockError`].
    ///
    /// # Blocking
    /// Never. A host that [tries in vain](crate#what-to-know-before-trusting-it) for long lets others run.
    ///
    /// # Examples
    /// ```
    /// let mutex = lamprey::sync::Mutex::new(5);
    /// let guard = mutex.lock().unwrap();
    /// assert!(mutex.try_lock().is_err());
    /// drop(guard);
    /// assert_eq!(*mutex.try_lock().unwrap(), 5);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError<MutexGuard<'_, T>>> {
        // What is in it may be what the caller waits for.
        coop::look();
        if !self.line.try_hold() && !self.line.barge() {
            return coop::looked(Err(TryLockError::WouldBlock), Result::is_err);
        }
        self.id.locked(Location::caller());
        self.guard(false).map_err(TryLockError::Poisoned)
    }

    /// [`lock`](Self::lock), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`LockTimeoutError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here if it would have to wait, and holds nothing then.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. A host that unwinds does not wait.
    #[doc(alias = "try_lock_for")]
    #[track_caller]
    pub fn lock_timeout(
        &self,
        timeout: Duration,
    ) -> Result<MutexGuard<'_, T>, LockTimeoutError<MutexGuard<'_, T>>> {
        let is_reported = coop::turn_of_lock();
        let ended = if self.line.try_hold() { LineEnd::Has(()) } else { self.wait(time::deadline(timeout)) };
        match ended {
            LineEnd::Has(()) => {}
            LineEnd::TimedOut => return Err(LockTimeoutError::TimedOut),
            LineEnd::Unwinding => return Err(LockTimeoutError::Unwinding),
        }
        self.id.locked(Location::caller());
        self.guard(is_reported).map_err(LockTimeoutError::Poisoned)
    }

    /// [`lock`](Self::lock) for async code. The guard may be kept across an `await`, and travels with a
    /// `Send` parasite.
    ///
    /// # Errors
    /// As for `lock`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it leaves the line; a lock that it was handed just then
    /// goes to the next waiter.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    ///
    /// # Examples
    /// ```
    /// use lamprey::sync::Mutex;
    /// use std::sync::Arc;
    /// # lamprey::run(|| {
    /// let mutex = Arc::new(Mutex::new(1));
    /// let theirs = mutex.clone();
    /// let adder = lamprey::parasite(async move {
    ///     let mut guard = theirs.lock_async().await.unwrap();
    ///     lamprey::yield_now_async().await;
    ///     *guard += 1;
    /// });
    /// adder.join().unwrap();
    /// assert_eq!(*mutex.lock().unwrap(), 2);
    /// # });
    /// ```
    #[track_caller]
    pub fn lock_async(&self) -> Synced<LockEvt<'_, T>> {
        self.lock_evt().into_future()
    }

    /// [`lock`](Self::lock) as an event: to choose between it and others.
    ///
    /// # Errors
    /// As for `lock`.
    ///
    /// # Cancellation
    /// If another event is chosen, or the thread is cancelled, the lock is not held.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, timeout};
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// let (a, b) = (lamprey::sync::Mutex::new('a'), lamprey::sync::Mutex::new('b'));
    /// let _held = a.lock().unwrap();
    /// assert_eq!(*choose([a.lock_evt(), b.lock_evt()]).sync().unwrap(), 'b');
    /// let limited = choose((a.lock_evt().wrap(|_| "taken"), timeout(Duration::from_millis(1)).wrap(|()| "held")));
    /// assert_eq!(limited.sync(), "held");
    /// # });
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn lock_evt(&self) -> LockEvt<'_, T> {
        LockEvt::new(self, Location::caller())
    }

    /// The value, of a mutex that no other thread can reach.
    ///
    /// # Errors
    /// [`Poisoned`], with the reference in it.
    pub fn get_mut(&mut self) -> Result<&mut T, Poisoned<&mut T>> {
        self.poison.check(self.value.get_mut())
    }

    /// True if a thread has panicked, or was cancelled, while it held the lock.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_poisoned(&self) -> bool {
        coop::look();
        self.poison.is_set()
    }

    /// Says that the value is in order again.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// Takes the lock when that could not be done in one step.
    #[inline(never)]
    fn wait(&self, deadline: Option<Instant>) -> LineEnd<()> {
        if self.line.barge() || self.line.spin(|| self.line.barge()) {
            return LineEnd::Has(());
        }
        self.line.acquire(TRIES, deadline, self.id.on(Wait::Lock)).without_want()
    }

    /// The guard of a lock that the caller has just taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn guard(&self, is_reported: bool) -> Result<MutexGuard<'_, T>, Poisoned<MutexGuard<'_, T>>> {
        // SAFETY: the caller has just taken HELD.
        let guard = unsafe { MutexGuard::new(self, is_reported) };
        self.poison.check(guard)
    }

    /// Releases the lock, and wakes a waiter if there is one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unlock(&self) {
        self.id.unlocked();
        if !self.line.let_go() {
            self.unlock_for_others();
        }
    }

    #[cold]
    #[inline(never)]
    fn unlock_for_others(&self) {
        if !self.line.let_go_to_woken() {
            self.line.release(HAND_OVER);
        }
    }
}

/// For the condition variable.
impl<T: ?Sized> Mutex<T> {
    /// [`unlock`](Self::unlock), where no code of the program may run: the caller must deliver a wake that
    /// would run some.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn unlock_quietly(&self) -> Option<PendingWake> {
        self.id.unlocked();
        if self.line.let_go() || self.line.let_go_to_woken() {
            return None;
        }
        let pending_wake = self.line.release_owing(HAND_OVER)?;
        if pending_wake.runs_code() {
            return Some(pending_wake);
        }
        pending_wake.deliver(Form::Soon);
        None
    }

    /// [`lock`](Self::lock) again, after a wait that released it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lock_again(&self, site: Site) -> Result<MutexGuard<'_, T>, LockError<MutexGuard<'_, T>>> {
        self.lock_in_order(site, false)
    }

    /// The rest of [`lock`](Self::lock): the order of locks has been checked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lock_in_order(
        &self,
        site: Site,
        is_reported: bool,
    ) -> Result<MutexGuard<'_, T>, LockError<MutexGuard<'_, T>>> {
        if !self.line.try_hold() && self.wait(None) != LineEnd::Has(()) {
            return Err(LockError::Unwinding);
        }
        self.id.locked(site);
        self.guard(is_reported).map_err(LockError::Poisoned)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        poison::show(f, "Mutex", self.try_lock(), &self.poison)
    }
}
