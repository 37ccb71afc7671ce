//! Taking a lock as an event, to read or to write.

use super::guard::RwMode;
use super::sharing::Sharing;
use super::{LockError, RwLock};
use crate::events::Event;
use crate::events::algebra::awaitable;
use crate::sched::parts::Told;
use crate::sync::line::{Claim, Line, LineOffer};
use crate::sync::order::Site;
use std::fmt;
use std::marker::PhantomData;

/// The event of [`RwLock::read_evt`] (`M`: [`Reading`](super::Reading)) and [`RwLock::write_evt`]
/// ([`Writing`](super::Writing)).
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct RwLockEvt<'a, T: ?Sized, M> {
    lock: &'a RwLock<T>,
    site: Site,
    mode: PhantomData<fn() -> M>,
}

impl<'a, T: ?Sized, M> RwLockEvt<'a, T, M> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(lock: &'a RwLock<T>, site: Site) -> Self {
        Self { lock, site, mode: PhantomData }
    }
}

impl<T: ?Sized, M> Clone for RwLockEvt<'_, T, M> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

awaitable!({'a, T: ?Sized, M: RwMode} RwLockEvt<'a, T, M>, Result<M::Guard<'a, T>, LockError<M::Guard<'a, T>>>);

impl<'a, T: ?Sized, M: RwMode> Event for RwLockEvt<'a, T, M> {
    type Branch = LineOffer<Self>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> LineOffer<Self> {
        LineOffer::new(self)
    }
}

impl<'a, T: ?Sized, M: RwMode> Claim for RwLockEvt<'a, T, M> {
    type Kind = Sharing;
    type Output = Result<M::Guard<'a, T>, LockError<M::Guard<'a, T>>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn line(&self) -> &Line<Sharing> {
        &self.lock.line
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn want(&self) -> u32 {
        M::WANT
    }

    fn tell(&self, told: &mut Told<'_>) {
        told.tell(self.lock.id.on(M::REASON));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn output(&self, got: Option<u32>, is_future: bool) -> Self::Output {
        if got.is_none() {
            return Err(LockError::Unwinding);
        }
        self.lock.guard::<M>((!is_future).then_some(self.site)).map_err(LockError::Poisoned)
    }
}

impl<T: ?Sized, M> fmt::Debug for RwLockEvt<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RwLockEvt")
    }
}
