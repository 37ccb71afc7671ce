//! What can go wrong with a lock.

use std::error::Error;
use std::fmt;

/// A lock whose holder panicked, or was cancelled, while it held it: what it guards may be half changed. The
/// lock is taken all the same, and in here.
#[doc(alias = "PoisonError")]
pub struct Poisoned<G>(G);

/// A lock was not taken as it should be.
#[doc(alias = "PoisonError")]
pub enum LockError<G> {
    /// It is taken, but a thread panicked while it held it.
    Poisoned(Poisoned<G>),
    /// It is held, and the calling host unwinds and must not wait (see
    /// [`Event::sync`](crate::event::Event::sync)).
    Unwinding,
}

/// `lock_timeout`, `read_timeout` or `write_timeout` failed.
pub enum LockTimeoutError<G> {
    /// It is taken, but a thread panicked while it held it.
    Poisoned(Poisoned<G>),
    /// The time was over before it was free.
    TimedOut,
    /// It is held, and the calling host unwinds and must not wait.
    Unwinding,
}

/// `try_lock`, `try_read` or `try_write` failed.
pub enum TryLockError<G> {
    /// It is taken, but a thread panicked while it held it.
    Poisoned(Poisoned<G>),
    /// It is held by another thread.
    WouldBlock,
}

impl<G> Poisoned<G> {
    pub(super) fn new(guard: G) -> Self {
        Self(guard)
    }

    /// The guard, to use what the lock guards all the same.
    pub fn into_inner(self) -> G {
        self.0
    }

    /// The guard, borrowed.
    pub fn get_ref(&self) -> &G {
        &self.0
    }

    /// The guard, borrowed mutably.
    pub fn get_mut(&mut self) -> &mut G {
        &mut self.0
    }
}

impl<G> LockError<G> {
    /// The guard, if the lock is taken.
    pub fn into_guard(self) -> Option<G> {
        match self {
            Self::Poisoned(poisoned) => Some(poisoned.into_inner()),
            Self::Unwinding => None,
        }
    }
}

impl<G> LockError<G> {
    /// The same error, of something that has the guard in it.
    pub(super) fn map<H>(self, with: impl FnOnce(G) -> H) -> LockError<H> {
        match self {
            Self::Poisoned(poisoned) => LockError::Poisoned(Poisoned(with(poisoned.0))),
            Self::Unwinding => LockError::Unwinding,
        }
    }
}

impl<G> LockTimeoutError<G> {
    /// The guard, if the lock is taken.
    pub fn into_guard(self) -> Option<G> {
        match self {
            Self::Poisoned(poisoned) => Some(poisoned.into_inner()),
            Self::TimedOut | Self::Unwinding => None,
        }
    }
}

impl<G> TryLockError<G> {
    /// The guard, if the lock is taken.
    pub fn into_guard(self) -> Option<G> {
        match self {
            Self::Poisoned(poisoned) => Some(poisoned.into_inner()),
            Self::WouldBlock => None,
        }
    }
}

impl<G> From<LockError<G>> for LockTimeoutError<G> {
    fn from(error: LockError<G>) -> Self {
        match error {
            LockError::Poisoned(poisoned) => Self::Poisoned(poisoned),
            LockError::Unwinding => Self::Unwinding,
        }
    }
}

const POISONED: &str = "a thread panicked or was cancelled while it held the lock: what it guards may be half changed; take the guard out of the error to go on all the same";
const UNWINDING: &str = "the lock is held, and a host that unwinds must not wait for it: take it before the panic can come, or use `try_lock` in the destructor";

macro_rules! errors {
    ($($error:ident { $($what:pat => $name:literal, $text:expr;)+ })+) => {$(
        impl<G> fmt::Debug for $error<G> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($what => $name,)+ })
            }
        }
        impl<G> fmt::Display for $error<G> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($what => $text,)+ })
            }
        }
        impl<G> Error for $error<G> {}
    )+};
}

errors! {
    Poisoned { _ => "Poisoned", POISONED; }
    LockError {
        Self::Poisoned(_) => "Poisoned", POISONED;
        Self::Unwinding => "Unwinding", UNWINDING;
    }
    LockTimeoutError {
        Self::Poisoned(_) => "Poisoned", POISONED;
        Self::TimedOut => "TimedOut", "the lock could not be had in time";
        Self::Unwinding => "Unwinding", UNWINDING;
    }
    TryLockError {
        Self::Poisoned(_) => "Poisoned", POISONED;
        Self::WouldBlock => "WouldBlock", "the lock is held by another thread";
    }
}
