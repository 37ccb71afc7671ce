//! Permits that a semaphore has given, and the event of that.

use super::{AcquireError, CLOSED, Permits, Semaphore};
use crate::events::Event;
use crate::events::algebra::awaitable;
use crate::sched::Wait;
use crate::sched::parts::Told;
use crate::sync::line::{Claim, Line, LineOffer};
use std::fmt;
use std::ops::Deref;

/// Permits of a [`Semaphore`], which are given back when it is dropped. `S` is a reference to the semaphore,
/// or an `Arc`. It may be sent to other threads.
#[doc(alias = "OwnedSemaphorePermit")]
#[must_use = "the permits are given back when this is dropped"]
pub struct SemaphorePermit<S: Deref<Target = Semaphore>> {
    semaphore: S,
    n: u32,
}

impl<S: Deref<Target = Semaphore>> SemaphorePermit<S> {
    pub(super) fn new(semaphore: S, n: u32) -> Self {
        Self { semaphore, n }
    }

    /// How many permits it has.
    ///
    /// # Examples
    /// ```
    /// let seats = lamprey::sync::Semaphore::new(3);
    /// assert_eq!(seats.try_acquire(2).unwrap().count(), 2);
    /// ```
    pub fn count(&self) -> u32 {
        self.n
    }

    /// Never gives the permits back: the semaphore has that many less.
    ///
    /// # Examples
    /// ```
    /// let seats = lamprey::sync::Semaphore::new(3);
    /// seats.try_acquire(1).unwrap().forget();
    /// assert_eq!(seats.available_permits(), 2);
    /// ```
    pub fn forget(mut self) {
        self.n = 0;
    }
}

impl<S: Deref<Target = Semaphore>> Drop for SemaphorePermit<S> {
    fn drop(&mut self) {
        if self.n != 0 {
            self.semaphore.line.release(self.n);
        }
    }
}

impl<S: Deref<Target = Semaphore>> fmt::Debug for SemaphorePermit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SemaphorePermit").field(&self.n).finish()
    }
}

/// The event of [`Semaphore::acquire_evt`] and [`Semaphore::acquire_owned_evt`].
#[derive(Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct AcquireEvt<S> {
    semaphore: S,
    n: u32,
}

awaitable!({S: Deref<Target = Semaphore> + Clone} AcquireEvt<S>, Result<SemaphorePermit<S>, AcquireError>);

impl<S> AcquireEvt<S> {
    pub(super) fn new(semaphore: S, n: u32) -> Self {
        Self { semaphore, n }
    }
}

impl<S: Deref<Target = Semaphore> + Clone> Event for AcquireEvt<S> {
    type Branch = LineOffer<Self>;

    fn branch(self) -> LineOffer<Self> {
        LineOffer::new(self)
    }
}

impl<S: Deref<Target = Semaphore> + Clone> Claim for AcquireEvt<S> {
    type Kind = Permits;
    type Output = Result<SemaphorePermit<S>, AcquireError>;

    fn line(&self) -> &Line<Permits> {
        &self.semaphore.line
    }

    fn want(&self) -> u32 {
        self.n
    }

    fn tell(&self, told: &mut Told<'_>) {
        told.tell(self.semaphore.made.on(Wait::Permit));
    }

    fn output(&self, got: Option<u32>, _: bool) -> Self::Output {
        match got {
            None => Err(AcquireError::Unwinding),
            Some(CLOSED) => Err(AcquireError::Closed),
            Some(n) => Ok(SemaphorePermit::new(self.semaphore.clone(), n)),
        }
    }
}

impl<S> fmt::Debug for AcquireEvt<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AcquireEvt").field(&self.n).finish()
    }
}
