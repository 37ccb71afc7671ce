//! A lock as an event.

use super::super::line::{Claim, Line, LineOffer};
use super::super::order::Site;
use super::{Exclusive, HAND_OVER, LockError, Mutex, MutexGuard};
use crate::events::Event;
use crate::events::algebra::awaitable;
use crate::sched::Wait;
use crate::sched::parts::Told;
use std::fmt;

/// The event of [`Mutex::lock_evt`].
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct LockEvt<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    site: Site,
}

impl<'a, T: ?Sized> LockEvt<'a, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(mutex: &'a Mutex<T>, site: Site) -> Self {
        Self { mutex, site }
    }
}

impl<T: ?Sized> Clone for LockEvt<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

awaitable!({'a, T: ?Sized} LockEvt<'a, T>, Result<MutexGuard<'a, T>, LockError<MutexGuard<'a, T>>>);

impl<'a, T: ?Sized> Event for LockEvt<'a, T> {
    type Branch = LineOffer<Self>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> LineOffer<Self> {
        LineOffer::new(self)
    }
}

impl<'a, T: ?Sized> Claim for LockEvt<'a, T> {
    type Kind = Exclusive;
    type Output = Result<MutexGuard<'a, T>, LockError<MutexGuard<'a, T>>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn line(&self) -> &Line<Exclusive> {
        &self.mutex.line
    }

    fn want(&self) -> u32 {
        HAND_OVER
    }

    fn tell(&self, told: &mut Told<'_>) {
        told.tell(self.mutex.id.on(Wait::Lock));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn output(&self, got: Option<u32>, is_future: bool) -> Self::Output {
        if got.is_none() {
            return Err(LockError::Unwinding);
        }
        if !is_future {
            self.mutex.id.locked(self.site);
        }
        self.mutex.guard(false).map_err(LockError::Poisoned)
    }
}

impl<T: ?Sized> fmt::Debug for LockEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockEvt")
    }
}
