//! Why a call of an [`MVar`](super::MVar) gave nothing.

use std::fmt;

/// [`take`](super::MVar::take) or [`read`](super::MVar::read) failed: the variable is empty, and the call did
/// not wait on. Its time was over, or the caller is a host that is unwinding from a panic and must not block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeError;

/// [`put`](super::MVar::put) or [`swap`](super::MVar::swap) failed; the value comes back. The call did not
/// wait on: its time was over, or the caller is a host that is unwinding from a panic and must not block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PutError<T>(pub T);

impl<T> fmt::Debug for PutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PutError(..)")
    }
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the variable is empty, and the call could not wait on")
    }
}

impl<T> fmt::Display for PutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was put: the call would have had to wait on, and could not")
    }
}

impl std::error::Error for TakeError {}
impl<T> std::error::Error for PutError<T> {}
