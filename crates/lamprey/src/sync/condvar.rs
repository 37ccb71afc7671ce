//! The condition variable: a thread releases a mutex and waits until another thread notifies it.
//!
//! # How it is done
//! A line in which no thread is served on arrival. `notify_one` adds one to `single`, which the first in line
//! takes; `notify_all` begins a new `round`, and all threads that came in an older one go on. Neither is kept
//! when no thread waits.
//!
//! # Invariants
//! 1. A thread is in the line before it releases the mutex. So a notification of a change that is made under
//!    the mutex finds it there.
//! 2. `single` is 0 when EDIT ends, unless the line is empty (or another batch follows): the first in line
//!    has taken it. What is left in an empty line is forgotten by the next thread that comes.
//! 3. A thread that is notified by `notify_one` and leaves without returning from its wait (it is cancelled,
//!    or its future is dropped) notifies the next one.
//! 4. Between queueing and blocking no code of the program runs (`Line::acquire_then`).
//!
//! # Checked by
//! `model::condvar` (loom), `tests/sync/condvar.rs`.

use super::err::LockError;
#[cfg(not(loom))]
use super::line::{Claim, LineOffer};
use super::line::{Comes, Decision, Line, LineEnd, LockKind};
use super::mutex::{Mutex, MutexGuard};
use super::order::Site;
use super::policy::{LockOptions, Wake};
use crate::sched::noted::MadeInDebug;
#[cfg(not(loom))]
use crate::sched::parts::Told;
use crate::sched::{self, Wait};
use crate::sync_shim::left_out;
use crate::time;
use std::panic::Location;
use std::time::{Duration, Instant};

/// What a wait gives: the guard again.
type Waited<G> = Result<G, LockError<G>>;

/// Waits for a change of what a [`Mutex`] guards: `std`'s `Condvar` for hosts, parasites and OS threads.
///
/// There are no spurious wake-ups: a thread is woken by a notification, a time-out or a cancellation. (With
/// one exception: if a task of another executor or another runtime waits for the mutex that this wait
/// releases, the wait may end at once.) But between notification and return another thread may take the
/// mutex: use [`wait_while`](Self::wait_while).
///
/// # Examples
/// ```
/// use lamprey::sync::{Condvar, Mutex};
/// use std::sync::Arc;
///
/// lamprey::run(|| {
///     let shared = Arc::new((Mutex::new(false), Condvar::new()));
///     let theirs = shared.clone();
///     lamprey::spawn(move || {
///         *theirs.0.lock().unwrap() = true;
///         theirs.1.notify_one();
///     });
///     let ready = shared.1.wait_while(shared.0.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*ready);
/// });
/// ```
#[doc(alias = "Cond")]
#[doc(alias = "Notify")]
#[derive(Debug)]
pub struct Condvar {
    line: Line<Notified>,
    made: MadeInDebug,
}

/// The notifications that have not been received yet.
#[derive(Debug, Clone, Copy)]
pub struct Notified {
    round: u32,
    single: u32,
}

/// The last `want` of a waiter that has a notification of `notify_one`. Rounds are even.
const SINGLE: u32 = 1;

impl LockKind for Notified {
    fn arrive(&mut self, _: &mut bool, want: &mut u32, comes: Comes) -> bool {
        if comes == Comes::First {
            self.single = 0;
        }
        *want = self.round;
        false
    }

    fn take(&mut self, _: &mut bool, want: &mut u32) -> Decision {
        if *want != self.round {
            return Decision::Has;
        }
        if self.single == 0 {
            return Decision::Waits;
        }
        self.single -= 1;
        *want = SINGLE;
        Decision::Has
    }

    fn give_back(&mut self, _: &mut bool, want: u32) {
        if want == SINGLE {
            self.single = self.single.saturating_add(1); // see `notify_one`
        }
    }
}

/// Whether a limited wait has ended because of its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// True if no notification came in time.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A notification that has been taken out of the line. It goes to the next waiter, unless the wait returns
/// with it.
struct Taken<'a>(&'a Line<Notified>, u32);

impl Taken<'_> {
    fn use_up(self) {
        std::mem::forget(self);
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.release(self.1);
    }
}

impl Condvar {
    crate::sync_shim::const_fn! {
        /// A condition variable for which no thread waits, with the default [`LockOptions`].
        #[track_caller]
        pub const fn new() -> Self {
            Self::with_options(LockOptions::new())
        }
    }

    crate::sync_shim::const_fn! {
        /// A condition variable with other policies than the default ones, of which it has one:
        /// [`LockOptions::order`] says which thread [`notify_one`](Self::notify_one) wakes.
        #[track_caller]
        pub const fn with_options(options: LockOptions) -> Self {
            Self {
                line: Line::new(Notified { round: 0, single: 0 }, options.order, Wake::Enqueue),
                made: MadeInDebug::new(),
            }
        }
    }

    /// Releases the mutex, waits for a notification, and takes the mutex again.
    ///
    /// # Errors
    /// [`LockError::Poisoned`] with the guard, if the mutex is poisoned when it is taken again;
    /// [`LockError::Unwinding`] if the calling host unwinds: the mutex is released.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and does **not** take the mutex again, so it does not poison it. A
    /// notification that it has received goes to the next waiter.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> Waited<MutexGuard<'a, T>> {
        self.wait_until(guard, None, Location::caller()).0
    }

    /// Waits for as long as `condition` is true of the value. It is called before the first wait, and after
    /// each notification.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    ///
    /// # Cancellation
    /// As for `wait`.
    ///
    /// # Blocking
    /// As for `wait`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Waited<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// [`wait`](Self::wait), for at most `timeout` (and as long as it takes to get the mutex again).
    ///
    /// # Errors
    /// As for `wait`.
    ///
    /// # Cancellation
    /// As for `wait`.
    ///
    /// # Blocking
    /// As for `wait`.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::sync::{Condvar, Mutex};
    /// let (mutex, changed) = (Mutex::new(0), Condvar::new());
    /// let limit = std::time::Duration::from_millis(1);
    /// let (_guard, result) = changed.wait_timeout(mutex.lock().unwrap(), limit).unwrap();
    /// assert!(result.timed_out());
    /// ```
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> Waited<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, timed_out) = self.wait_until(guard, time::deadline(timeout), Location::caller());
        with_result(guard, WaitTimeoutResult(timed_out))
    }

    /// [`wait_while`](Self::wait_while), for at most `timeout` (and as long as it takes to get the mutex
    /// again).
    ///
    /// # Errors
    /// As for `wait`. A time-out is no error: see the result.
    ///
    /// # Cancellation
    /// As for `wait`.
    ///
    /// # Blocking
    /// As for `wait`.
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Waited<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (deadline, mut timed_out) = (time::deadline(timeout), false);
        loop {
            let still = condition(&mut guard);
            if !still || timed_out {
                return Ok((guard, WaitTimeoutResult(still)));
            }
            let (waited, is_late) = self.wait_until(guard, deadline, Location::caller());
            timed_out = is_late;
            match with_result(waited, WaitTimeoutResult(is_late)) {
                Ok((again, _)) => guard = again,
                error => return error,
            }
        }
    }

    /// [`wait`](Self::wait) for async code. The mutex is released at the first poll.
    ///
    /// # Errors
    /// As for `wait`.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready does not take the mutex again; if it was never polled, it
    /// releases the mutex. A notification that it has received goes to the next waiter.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    ///
    /// # Examples
    /// ```
    /// use lamprey::sync::{Condvar, Mutex};
    /// use std::sync::Arc;
    /// # lamprey::run(|| {
    /// let shared = Arc::new((Mutex::new(0), Condvar::new()));
    /// let theirs = shared.clone();
    /// let waits = lamprey::parasite(async move {
    ///     let mut guard = theirs.0.lock_async().await.unwrap();
    ///     while *guard == 0 {
    ///         guard = theirs.1.wait_async(guard).await.unwrap();
    ///     }
    ///     *guard
    /// });
    /// *shared.0.lock().unwrap() = 7;
    /// shared.1.notify_all();
    /// assert_eq!(waits.join().unwrap(), 7);
    /// # });
    /// ```
    #[cfg(not(loom))]
    pub async fn wait_async<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> Waited<MutexGuard<'a, T>> {
        let mutex = MutexGuard::mutex(&guard);
        let mut guard = Some(guard);
        let mut notified =
            std::pin::pin!(crate::events::protocol::Waiting::new(LineOffer::new(Wanted(self))));
        let want = std::future::poll_fn(|cx| {
            // At once, whatever the budget: a future that is pending after this is in the line.
            let polled = notified.as_mut().poll_at_once(cx);
            drop(guard.take());
            polled
        });
        let taken = Taken(&self.line, want.await);
        let locked = mutex.lock_async().await;
        taken.use_up();
        locked
    }

    /// Wakes one waiting thread, if there is one. The caller need not hold the mutex.
    ///
    /// # Blocking
    /// Never.
    #[doc(alias = "Signal")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn notify_one(&self) {
        if self.line.has_waiters() {
            // Saturates: if no thread waits after all, the next one that comes sets it to 0.
            self.notify(|state| state.single = state.single.saturating_add(1));
        }
    }

    /// Wakes all threads that wait now. The caller need not hold the mutex.
    ///
    /// # Blocking
    /// Never.
    #[doc(alias = "Broadcast")]
    #[doc(alias = "notify_waiters")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn notify_all(&self) {
        if self.line.has_waiters() {
            self.notify(|state| state.round = state.round.wrapping_add(2));
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn notify(&self, change: impl FnOnce(&mut Notified)) {
        self.line.change(|state, _, _| change(state));
    }

    /// True with the guard if the limit has passed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn wait_until<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Option<Instant>,
        site: Site,
    ) -> (Waited<MutexGuard<'a, T>>, bool) {
        if sched::must_not_block() {
            return (Err(LockError::Unwinding), false);
        }
        let mutex = MutexGuard::mutex(&guard);
        let mut guard = Some(guard);
        if left_out!(CondvarEarly) {
            guard = None;
        }
        let let_go = || guard.and_then(MutexGuard::unlock_quietly);
        match self.line.acquire_then(0, deadline, self.made.on(Wait::Condvar), let_go) {
            LineEnd::Has(want) => (self.lock_notified(mutex, want, site), false),
            _ => (mutex.lock_again(site), true),
        }
    }

    /// Takes the mutex again, with a notification in hand.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lock_notified<'a, T: ?Sized>(
        &self,
        mutex: &'a Mutex<T>,
        want: u32,
        site: Site,
    ) -> Waited<MutexGuard<'a, T>> {
        let taken = Taken(&self.line, want);
        let locked = mutex.lock_again(site);
        taken.use_up();
        locked
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

fn with_result<G>(waited: Waited<G>, result: WaitTimeoutResult) -> Waited<(G, WaitTimeoutResult)> {
    match waited {
        Ok(guard) => Ok((guard, result)),
        Err(error) => Err(error.map(|guard| (guard, result))),
    }
}

/// A notification as what a future waits for.
#[cfg(not(loom))]
struct Wanted<'a>(&'a Condvar);

#[cfg(not(loom))]
impl Claim for Wanted<'_> {
    type Kind = Notified;
    type Output = u32;

    fn line(&self) -> &Line<Notified> {
        &self.0.line
    }

    fn want(&self) -> u32 {
        0
    }

    fn tell(&self, told: &mut Told<'_>) {
        told.tell(self.0.made.on(Wait::Condvar));
    }

    /// A future always has a notification: it is never refused a wait.
    fn output(&self, got: Option<u32>, _: bool) -> u32 {
        got.unwrap_or(0)
    }
}
