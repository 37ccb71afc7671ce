//! How the outcome of a stackless parasite is kept in its block: a word for an error, also where errors are
//! larger, and no memory of its own for a cancellation.
//!
//! Invariant: the pointer is that of [`CANCELLED`], or of a box that this owns.

use crate::thread::JoinError;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// What a parasite has left behind.
pub(super) type Kept<T> = Result<T, KeptError>;

/// A [`JoinError`] in one word that is never null.
pub(super) struct KeptError(NonNull<JoinError>);

/// Stands for a cancellation; only its address counts.
static CANCELLED: u64 = 0;

const _: () = assert!(size_of::<Kept<()>>() == size_of::<usize>());

// SAFETY: a box of an error (module's invariant), which is `Send`.
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

    pub(super) fn into_error(self) -> JoinError {
        let this = ManuallyDrop::new(self);
        if this.is_cancelled() {
            return JoinError::cancelled();
        }
        // SAFETY: a box of ours (module's invariant), which is not dropped a second time.
        *unsafe { Box::from_raw(this.0.as_ptr()) }
    }
}

impl Drop for KeptError {
    fn drop(&mut self) {
        if !self.is_cancelled() {
            // SAFETY: a box of ours (module's invariant).
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
