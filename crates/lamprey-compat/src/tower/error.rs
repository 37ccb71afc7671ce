//! [`CallError`]: why a call of a closure has no response.

use lamprey::JoinError;
use std::error::Error;
use std::fmt;

/// Why a call of a [`BlockingService`](super::BlockingService) has no response.
#[derive(Debug)]
pub enum CallError<E> {
    /// The closure's error.
    Failed(E),
    /// The host has not ended by itself: it has panicked, it was cancelled, or there was no memory for it.
    Ended(JoinError),
    /// The call was made outside of every runtime, as was the service: make that by
    /// [`BlockingService::on`](super::BlockingService::on).
    NoRuntime,
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Ended(error) => error.fmt(f),
            Self::NoRuntime => f.write_str(
                "a service of a blocking closure was called outside of every Lamprey runtime: give it one by `BlockingService::on(handle)`",
            ),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> Error for CallError<E> {}
