//! A semaphore: a number of permits that threads take and give back, in order of arrival.
//!
//! # Invariants (of [`Permits`], the state of its [`Line`])
//! 1. A waiter that is first in line and for which enough permits are free has been given them. No thread
//!    overtakes, so one that asks for many permits is not starved by those that ask for few.
//! 2. CLOSED is no number of permits. A waiter that receives CLOSED has none, and gives nothing back.
//! 3. The number of free permits does not wrap: none are added beyond MOST, and giving back stops at the
//!    largest number.
//!
//! # Checked by
//! `model::semaphore` (loom), `tests/sync/semaphore.rs`.

mod err;
mod permit;

pub use err::{AcquireError, AcquireTimeoutError, TryAcquireError};
pub use permit::{AcquireEvt, SemaphorePermit};

use super::line::{Comes, Decision, Line, LineEnd, LockKind};
use super::policy::LockOptions;
use crate::events::protocol::Synced;
use crate::sched::noted::MadeInDebug;
use crate::sched::{Wait, coop};
use crate::sync_shim::left_out;
use crate::time;
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a waiter receives when the semaphore is closed, instead of the number of its permits.
const CLOSED: u32 = u32::MAX;

/// No permits are added where more than these are free.
const MOST: u64 = u64::MAX / 2;

/// What the line of a semaphore decides by.
#[derive(Debug, Clone, Copy)]
pub struct Permits {
    free: u64,
    closed: bool,
}

impl LockKind for Permits {
    fn arrive(&mut self, held: &mut bool, want: &mut u32, comes: Comes) -> bool {
        (self.closed || comes != Comes::Behind) && self.take(held, want) == Decision::Has
    }

    fn take(&mut self, _: &mut bool, want: &mut u32) -> Decision {
        if self.closed {
            if !left_out!(SemaphoreClosed) {
                *want = CLOSED;
            }
            return Decision::Has;
        }
        let Some(rest) = self.free.checked_sub((*want).into()) else { return Decision::Waits };
        self.free = rest;
        Decision::Has
    }

    fn give_back(&mut self, _: &mut bool, want: u32) {
        if want != CLOSED {
            // Only a program that has added billions of permits by hand gets to the largest number.
            self.free = self.free.saturating_add(want.into());
        }
    }
}

/// Permits that threads take and give back, so that at most so many of them do something at once.
///
/// Threads are served in order of arrival (unless made [otherwise](Self::with_options)), whatever number they
/// ask for.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use lamprey::sync::Semaphore;
///
/// lamprey::run(|| {
///     let (seats, inside) = (Arc::new(Semaphore::new(2)), Arc::new(AtomicU32::new(0)));
///     let guests: Vec<_> = (0..10)
///         .map(|_| {
///             let (seats, inside) = (seats.clone(), inside.clone());
///             lamprey::spawn(move || {
///                 let _seat = seats.acquire(1).unwrap();
///                 assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
///                 lamprey::yield_now();
///                 inside.fetch_sub(1, Ordering::SeqCst);
///             })
///         })
///         .collect();
///     guests.into_iter().for_each(|guest| guest.join().unwrap());
///     assert_eq!(seats.available_permits(), 2);
/// });
/// ```
pub struct Semaphore {
    line: Line<Permits>,
    made: MadeInDebug,
}

impl Semaphore {
    /// The most that one call can ask for.
    pub const MAX_PERMITS: u32 = CLOSED - 1;

    crate::sync_shim::const_fn! {
        /// A semaphore with so many permits, with the default [`LockOptions`].
        ///
        /// # Examples
        /// ```
        /// static SEATS: lamprey::sync::Semaphore = lamprey::sync::Semaphore::new(8);
        /// assert_eq!(SEATS.available_permits(), 8);
        /// ```
        #[track_caller]
        pub const fn new(permits: u32) -> Self {
            Self::with_options(permits, LockOptions::new())
        }
    }

    crate::sync_shim::const_fn! {
        /// A semaphore with so many permits, with other policies than the default ones.
        ///
        /// # Examples
        /// ```
        /// use lamprey::sync::{LockOptions, Order, Semaphore};
        /// static SEATS: Semaphore = Semaphore::with_options(8, LockOptions::new().order(Order::Lifo));
        /// assert_eq!(SEATS.available_permits(), 8);
        /// ```
        #[track_caller]
        pub const fn with_options(permits: u32, options: LockOptions) -> Self {
            let permits = Permits { free: permits as u64, closed: false };
            Self { line: Line::new(permits, options.order, options.wake), made: MadeInDebug::new() }
        }
    }

    /// Takes `n` permits. Waits until so many are free and no thread that came before waits.
    ///
    /// # Examples
    /// See [`Semaphore`].
    ///
    /// # Errors
    /// [`AcquireError::Closed`] if the semaphore is or becomes [closed](Self::close).
    /// [`AcquireError::Unwinding`] if it would have to wait on a host that is unwinding.
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Cancellation
    /// The commit point is when the permits are taken for this call, also while it is blocked. A cancelled
    /// host unwinds from here and has no permits: permits that it was given just
    /// then go to the next waiter.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[doc(alias = "acquire_many")]
    pub fn acquire(&self, n: u32) -> Result<SemaphorePermit<&Self>, AcquireError> {
        self.wait_for(n).map(|()| SemaphorePermit::new(self, n))
    }

    /// [`acquire`](Self::acquire), of a shared semaphore: the permit keeps a reference of its own.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # lamprey::run(|| {
    /// let seats = Arc::new(lamprey::sync::Semaphore::new(1));
    /// let seat = seats.acquire_owned(1).unwrap();
    /// lamprey::spawn(move || drop(seat)).join().unwrap();
    /// assert_eq!(seats.available_permits(), 1);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As for [`acquire`](Self::acquire).
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Cancellation
    /// As for [`acquire`](Self::acquire).
    ///
    /// # Blocking
    /// As for [`acquire`](Self::acquire).
    #[doc(alias = "acquire_many_owned")]
    pub fn acquire_owned(self: &Arc<Self>, n: u32) -> Result<SemaphorePermit<Arc<Self>>, AcquireError> {
        self.wait_for(n).map(|()| SemaphorePermit::new(self.clone(), n))
    }

    /// Takes `n` permits if that can be done at once.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::sync::{Semaphore, TryAcquireError};
    /// let seats = Semaphore::new(1);
    /// let seat = seats.try_acquire(1).unwrap();
    /// assert_eq!(seats.try_acquire(1).err(), Some(TryAcquireError::NoPermits));
    /// # drop(seat);
    /// ```
    ///
    /// # Errors
    /// [`TryAcquireError::Closed`]; [`TryAcquireError::NoPermits`] if too few are free or others wait.
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Blocking
    /// Never. A host that [tries in vain](crate#what-to-know-before-trusting-it) for long lets others run.
    #[doc(alias = "try_acquire_many")]
    pub fn try_acquire(&self, n: u32) -> Result<SemaphorePermit<&Self>, TryAcquireError> {
        self.try_now(n).map(|()| SemaphorePermit::new(self, n))
    }

    /// [`try_acquire`](Self::try_acquire), of a shared semaphore: the permit keeps a reference of its own.
    ///
    /// # Examples
    /// ```
    /// let seats = std::sync::Arc::new(lamprey::sync::Semaphore::new(1));
    /// assert!(seats.try_acquire_owned(1).is_ok());
    /// ```
    ///
    /// # Errors
    /// As for [`try_acquire`](Self::try_acquire).
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Blocking
    /// Never. A host that [tries in vain](crate#what-to-know-before-trusting-it) for long lets others run.
    #[doc(alias = "try_acquire_many_owned")]
    pub fn try_acquire_owned(
        self: &Arc<Self>,
        n: u32,
    ) -> Result<SemaphorePermit<Arc<Self>>, TryAcquireError> {
        self.try_now(n).map(|()| SemaphorePermit::new(self.clone(), n))
    }

    /// [`acquire`](Self::acquire), waiting at most `timeout`.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// # use lamprey::sync::{AcquireTimeoutError, Semaphore};
    /// let none = Semaphore::new(0);
    /// assert_eq!(none.acquire_timeout(1, Duration::from_millis(1)).err(), Some(AcquireTimeoutError::TimedOut));
    /// ```
    ///
    /// # Errors
    /// As for [`acquire`](Self::acquire), and [`AcquireTimeoutError::TimedOut`]: nothing is taken then.
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Cancellation
    /// As for [`acquire`](Self::acquire).
    ///
    /// # Blocking
    /// As for [`acquire`](Self::acquire).
    pub fn acquire_timeout(
        &self,
        n: u32,
        timeout: Duration,
    ) -> Result<SemaphorePermit<&Self>, AcquireTimeoutError> {
        self.wait_until(n, time::deadline(timeout)).map(|()| SemaphorePermit::new(self, n))
    }

    /// [`acquire`](Self::acquire) for async code. The future enters the line when it is polled for the first
    /// time.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let seats = lamprey::sync::Semaphore::new(1);
    /// let seat = lamprey::wait(seats.acquire_async(1)).unwrap();
    /// assert_eq!(seat.count(), 1);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`AcquireError::Closed`].
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it takes nothing: permits that it was given just then go
    /// to the next waiter.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn acquire_async(&self, n: u32) -> Synced<AcquireEvt<&Self>> {
        self.acquire_evt(n).into_future()
    }

    /// [`acquire`](Self::acquire) as an event.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// # lamprey::run(|| {
    /// let (small, large) = (lamprey::sync::Semaphore::new(0), lamprey::sync::Semaphore::new(2));
    /// let got = choose((
    ///     small.acquire_evt(1).wrap(|permit| permit.ok().map(|_| "small")),
    ///     large.acquire_evt(2).wrap(|permit| permit.ok().map(|_| "large")),
    ///     timeout(Duration::from_secs(60)).wrap(|()| None),
    /// ));
    /// assert_eq!(got.sync(), Some("large"));
    /// assert_eq!(large.available_permits(), 2); // given back with the permit
    /// # });
    /// ```
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Cancellation
    /// Where another event is chosen, nothing is taken. See [`Event`](crate::event::Event).
    pub fn acquire_evt(&self, n: u32) -> AcquireEvt<&Self> {
        AcquireEvt::new(self, checked(n))
    }

    /// [`acquire_evt`](Self::acquire_evt), of a shared semaphore; awaited, it is the owned form of
    /// [`acquire_async`](Self::acquire_async).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # lamprey::run(|| {
    /// let seats = Arc::new(lamprey::sync::Semaphore::new(1));
    /// let guest = lamprey::parasite(seats.acquire_owned_evt(1).into_future());
    /// # use std::future::IntoFuture;
    /// assert_eq!(guest.join().unwrap().unwrap().count(), 1);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    pub fn acquire_owned_evt(self: &Arc<Self>, n: u32) -> AcquireEvt<Arc<Self>> {
        AcquireEvt::new(self.clone(), checked(n))
    }

    /// How many permits are free now. Other threads may take them at any moment.
    ///
    /// # Examples
    /// See [`Semaphore`].
    pub fn available_permits(&self) -> u64 {
        coop::look();
        self.line.change(|permits, _, _| permits.free)
    }

    /// Adds `n` permits.
    ///
    /// # Examples
    /// ```
    /// let seats = lamprey::sync::Semaphore::new(0);
    /// seats.add_permits(2);
    /// assert_eq!(seats.available_permits(), 2);
    /// ```
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS), or more than 2^63 permits are free already.
    ///
    /// # Blocking
    /// Never.
    #[track_caller]
    pub fn add_permits(&self, n: u32) {
        let n = checked(n);
        let free = self.line.change(|permits, held, _| {
            let free = permits.free;
            if free <= MOST {
                permits.give_back(held, n);
            }
            free
        });
        assert!(
            free <= MOST,
            "{n} permits were added to the {free} that a semaphore has; the most is {MOST}"
        );
    }

    /// Makes all calls that wait, and all that come from now on, fail with [`AcquireError::Closed`]. Permits
    /// that have been given stay valid.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// use lamprey::sync::{AcquireError, Semaphore};
    /// let seats = std::sync::Arc::new(Semaphore::new(0));
    /// let theirs = seats.clone();
    /// let guest = lamprey::spawn(move || theirs.acquire(1).err());
    /// seats.close();
    /// assert_eq!(guest.join().unwrap(), Some(AcquireError::Closed));
    /// # });
    /// ```
    ///
    /// # Blocking
    /// Never.
    pub fn close(&self) {
        self.line.change(|permits, _, _| permits.closed = true);
    }

    /// True after [`close`](Self::close).
    ///
    /// # Examples
    /// ```
    /// assert!(!lamprey::sync::Semaphore::new(0).is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        coop::look();
        self.line.change(|permits, _, _| permits.closed)
    }

    fn wait_for(&self, n: u32) -> Result<(), AcquireError> {
        self.wait_until(n, None).map_err(|error| match error {
            AcquireTimeoutError::Closed => AcquireError::Closed,
            AcquireTimeoutError::Unwinding => AcquireError::Unwinding,
            AcquireTimeoutError::TimedOut => {
                crate::bug::bug!("a wait for a permit without a deadline timed out")
            }
        })
    }

    fn wait_until(&self, n: u32, deadline: Option<Instant>) -> Result<(), AcquireTimeoutError> {
        coop::turn();
        match self.line.acquire(checked(n), deadline, self.made.on(Wait::Permit)) {
            LineEnd::Has(CLOSED) => Err(AcquireTimeoutError::Closed),
            LineEnd::Has(_) => Ok(()),
            LineEnd::TimedOut => Err(AcquireTimeoutError::TimedOut),
            LineEnd::Unwinding => Err(AcquireTimeoutError::Unwinding),
        }
    }

    fn try_now(&self, n: u32) -> Result<(), TryAcquireError> {
        // Permits that are given back at once were only looked at.
        coop::look();
        let acquired = match self.line.try_acquire(checked(n)) {
            Some(CLOSED) => Err(TryAcquireError::Closed),
            Some(_) => Ok(()),
            None => Err(TryAcquireError::NoPermits),
        };
        coop::looked(acquired, Result::is_err)
    }
}

#[track_caller]
fn checked(n: u32) -> u32 {
    assert!(n != CLOSED, "{n} permits at once are too many; the most is {}", Semaphore::MAX_PERMITS);
    n
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permits = self.line.change(|permits, _, _| *permits);
        f.debug_struct("Semaphore").field("free", &permits.free).field("closed", &permits.closed).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{Order, Wake};

    #[test]
    fn permits_beyond_the_most_are_refused_and_those_that_come_back_do_not_wrap() {
        let permits = Permits { free: MOST, closed: false };
        let seats =
            Semaphore { line: Line::new(permits, Order::Fifo, Wake::Enqueue), made: MadeInDebug::new() };
        seats.add_permits(Semaphore::MAX_PERMITS);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| seats.add_permits(1))).unwrap_err();
        assert_eq!(seats.available_permits(), MOST + u64::from(Semaphore::MAX_PERMITS));
        assert_eq!(seats.acquire(5).unwrap().count(), 5);
        seats.line.change(|permits, _, _| permits.free = u64::MAX);
        seats.line.release(5);
        assert_eq!(seats.available_permits(), u64::MAX);
    }
}
