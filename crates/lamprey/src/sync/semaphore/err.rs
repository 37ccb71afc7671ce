//! Why a semaphore gave no permits.

use std::error::Error;
use std::fmt;

const CLOSED: &str = "the semaphore is closed: it gives no permits any more";
const UNWINDING: &str = "no permits are free, and a host that is unwinding must not wait for them; use try_acquire in destructors";

/// Why [`Semaphore::acquire`](super::Semaphore::acquire) gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquireError {
    /// The semaphore was closed.
    Closed,
    /// The caller is a host that is unwinding, and would have had to wait.
    Unwinding,
}

/// Why [`Semaphore::try_acquire`](super::Semaphore::try_acquire) gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore was closed.
    Closed,
    /// Too few are free, or other threads wait for them.
    NoPermits,
}

/// Why [`Semaphore::acquire_timeout`](super::Semaphore::acquire_timeout) gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquireTimeoutError {
    /// The semaphore was closed.
    Closed,
    /// The time was over.
    TimedOut,
    /// The caller is a host that is unwinding, and would have had to wait.
    Unwinding,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => CLOSED,
            Self::Unwinding => UNWINDING,
        })
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => CLOSED,
            Self::NoPermits => "too few permits are free, or others wait for them",
        })
    }
}

impl fmt::Display for AcquireTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => CLOSED,
            Self::TimedOut => "no permits were free in time",
            Self::Unwinding => UNWINDING,
        })
    }
}

impl Error for AcquireError {}
impl Error for TryAcquireError {}
impl Error for AcquireTimeoutError {}
