//! The stored outcome of a stackless parasite: an error takes one word, and a cancellation allocates nothing.
//!
//! Invariant: the pointer of a [`KeptError`] is that of [`CANCELLED`], or of a box that it owns.

use crate::sched::info::ThreadInfo;
use crate::thread::JoinError;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// A stored outcome.
pub(super) type Kept<T> = Result<T, KeptError>;

/// A [`JoinError`] in one word that is never null.
pub(super) struct KeptError(NonNull<JoinError>);

/// A sentinel for a cancellation: only its address is used.
static CANCELLED: u64 = 0;

const _: () = assert!(size_of::<Kept<()>>() == size_of::<usize>());

// SAFETY: it owns a box of an error (module's invariant), which is `Send`, or points to a constant.
unsafe impl Send for KeptError {}

impl KeptError {
    pub(super) fn cancelled() -> Self {
        Self(NonNull::from(&CANCELLED).cast())
    }

    #[cold]
    pub(super) fn new(error: JoinError) -> Self {
        match error {
            JoinError::Cancelled(_) => Self::cancelled(),
            error => Self(NonNull::from(Box::leak(Box::new(error)))),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0 == NonNull::from(&CANCELLED).cast()
    }

    /// The error, with the parasite that `thread` tells.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn into_error_of(self, thread: impl FnOnce() -> ThreadInfo) -> JoinError {
        if self.is_cancelled() { JoinError::cancelled_of(thread()) } else { self.into_error().of(thread) }
    }

    pub(super) fn into_error(self) -> JoinError {
        let this = ManuallyDrop::new(self);
        if this.is_cancelled() {
            return JoinError::cancelled();
        }
        // SAFETY: we own the box (module's invariant); `this` does not drop it again.
        *unsafe { Box::from_raw(this.0.as_ptr()) }
    }
}

impl Drop for KeptError {
    fn drop(&mut self) {
        if !self.is_cancelled() {
            // SAFETY: we own the box (module's invariant), and drop it once.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
