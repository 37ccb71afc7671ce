//! The error of a time limit that has passed.

use std::fmt;
use std::io;

/// The time limit of a [`with_timeout`](crate::with_timeout) or
/// [`with_timeout_async`](crate::with_timeout_async) has passed.
#[doc(alias = "Elapsed")]
#[doc(alias = "DeadlineExceeded")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time limit has passed")
    }
}

impl std::error::Error for TimedOut {}

impl From<TimedOut> for io::Error {
    /// An error of the kind [`TimedOut`](io::ErrorKind::TimedOut).
    fn from(timed_out: TimedOut) -> Self {
        io::Error::new(io::ErrorKind::TimedOut, timed_out)
    }
}
