//! The errors of channels, a small type for each operation, in the shape of [`std::sync::mpsc`]. An unsent
//! value comes back in its error.

use std::error::Error;
use std::fmt;

/// `send` failed: no receiver is left (or the caller is unwinding and must not block). The value comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// `try_send` failed. The value comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// No receiver is waiting right now; or, of a channel with a buffer, it is full.
    Full(T),
    /// No receiver is left.
    Disconnected(T),
}

/// `send_timeout` failed. The value comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// No receiver came in time; or, of a channel with a buffer, it stayed full.
    Timeout(T),
    /// No receiver is left.
    Disconnected(T),
}

/// `recv` failed: no sender is left (or the caller is unwinding and must not block).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError;

/// `try_recv` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is nothing to receive right now.
    Empty,
    /// No sender is left.
    Disconnected,
}

/// `recv_timeout` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// Nothing came in time.
    Timeout,
    /// No sender is left.
    Disconnected,
}

impl<T> TrySendError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Disconnected(value) => value,
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(value) | Self::Disconnected(value) => value,
        }
    }
}

const NO_RECEIVER: &str = "no receiver is left";
const NO_SENDER: &str = "no sender is left";

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_RECEIVER)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the channel is full: no receiver waits, and no slot is free",
            Self::Disconnected(_) => NO_RECEIVER,
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "the channel was full: no receiver came in time, and no slot became free",
            Self::Disconnected(_) => NO_RECEIVER,
        })
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_SENDER)
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the channel is empty: there is nothing to receive right now",
            Self::Disconnected => NO_SENDER,
        })
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "nothing came in time",
            Self::Disconnected => NO_SENDER,
        })
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> Error for SendError<T> {}
impl<T> Error for TrySendError<T> {}
impl<T> Error for SendTimeoutError<T> {}
impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}

/// The error of a send that never waits.
impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(SendError(value): SendError<T>) -> Self {
        Self::Disconnected(value)
    }
}

/// The error of a send that never waits.
impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(SendError(value): SendError<T>) -> Self {
        Self::Disconnected(value)
    }
}
