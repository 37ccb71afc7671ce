//! Taking a lock as an event, to read or to write.

use super::guard::Access;
use super::sharing::Sharing;
use super::{LockError, RwLock};
use crate::event::Event;
use crate::event::algebra::awaitable;
use crate::sync::line::{Claim, Line, Offer};
use crate::sync::order::Site;
use std::fmt;
use std::marker::PhantomData;

/// The event of [`RwLock::read_evt`] and [`RwLock::write_evt`], which gives a `G`.
pub struct RwLockEvt<'a, T: ?Sized, G> {
    lock: &'a RwLock<T>,
    site: Site,
    guard: PhantomData<fn() -> G>,
}

impl<'a, T: ?Sized, G> RwLockEvt<'a, T, G> {
    #[inline(always)]
    pub(super) fn new(lock: &'a RwLock<T>, site: Site) -> Self {
        Self { lock, site, guard: PhantomData }
    }
}

impl<T: ?Sized, G> Clone for RwLockEvt<'_, T, G> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

awaitable!({'a, T: ?Sized, G: Access<'a, T>} RwLockEvt<'a, T, G>, Result<G, LockError<G>>);

impl<'a, T: ?Sized, G: Access<'a, T>> Event for RwLockEvt<'a, T, G> {
    type Branch = Offer<Self>;

    #[inline(always)]
    fn branch(self) -> Offer<Self> {
        Offer::new(self)
    }
}

impl<'a, T: ?Sized, G: Access<'a, T>> Claim for RwLockEvt<'a, T, G> {
    type Kind = Sharing;
    type Output = Result<G, LockError<G>>;

    #[inline(always)]
    fn line(&self) -> &Line<Sharing> {
        &self.lock.line
    }

    #[inline(always)]
    fn want(&self) -> u32 {
        G::WANT
    }

    #[inline(always)]
    fn output(&self, got: Option<u32>, is_future: bool) -> Self::Output {
        if got.is_none() {
            return Err(LockError::Unwinding);
        }
        self.lock.guard((!is_future).then_some(self.site)).map_err(LockError::Poisoned)
    }
}

impl<T: ?Sized, G> fmt::Debug for RwLockEvt<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RwLockEvt")
    }
}
