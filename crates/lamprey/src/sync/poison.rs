//! Poisoning: the mark of a thread that unwound while it held a lock, and other code that the locks with
//! poisoning share.

use super::err::{Poisoned, TryLockError};
use crate::sync_shim::Ordering;
use crate::sync_shim::plain::AtomicBool;
use std::fmt;
use std::ops::Deref;

/// Whether a holder has unwound.
pub(super) struct Poison(AtomicBool);

/// Taken by a holder, to tell an unwind that began while it held the lock from one that had begun before.
#[derive(Clone, Copy)]
pub(super) struct Since {
    was_panicking: bool,
}

impl Poison {
    pub(super) const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_set(&self) -> bool {
        // Relaxed: set by a holder of the lock, so the lock's own ordering publishes it.
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn clear(&self) {
        // Relaxed: a flag that orders nothing; the caller need not hold the lock.
        self.0.store(false, Ordering::Relaxed);
    }

    /// `what`, as an error if the lock is poisoned.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn check<G>(&self, what: G) -> Result<G, Poisoned<G>> {
        if self.is_set() { Err(Poisoned::new(what)) } else { Ok(what) }
    }

    /// The holder releases: sets the mark if the calling thread has begun to unwind since `since`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn set_if_unwinding(&self, since: Since) {
        if std::thread::panicking() && !since.was_panicking {
            // Relaxed: the lock's own ordering publishes it to later holders.
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Since {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn now() -> Self {
        Self { was_panicking: std::thread::panicking() }
    }
}

/// Formats a lock, with its value if the lock is free.
pub(super) fn show<G: Deref>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    tried: Result<G, TryLockError<G>>,
    poison: &Poison,
) -> fmt::Result
where
    G::Target: fmt::Debug,
{
    let mut shown = f.debug_struct(name);
    match tried {
        Ok(guard) => shown.field("data", &&*guard),
        Err(TryLockError::Poisoned(poisoned)) => shown.field("data", &&**poisoned.get_ref()),
        Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
    };
    shown.field("poisoned", &poison.is_set()).finish_non_exhaustive()
}

/// Debug and Display of guards, which format the value.
macro_rules! shown_as_its_value {
    ($($guard:ident)+) => {$(
        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    )+};
}
pub(super) use shown_as_its_value;
