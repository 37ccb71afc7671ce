//! An answer that is kept for a moment: many viewers cost as much as one.

use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer is kept, at least. One that took longer is kept for as long as it took: so the workers are asked for half of the
/// time at most.
const KEPT: Duration = Duration::from_millis(100);

/// The last answer to one question.
pub(super) struct Kept<T>(Mutex<Option<Last<T>>>);

struct Last<T> {
    value: Arc<T>,
    ended: Instant,
    took: Duration,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// An answer that is new, or almost. Who asks while one is made waits for that one.
    pub(super) fn get(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut last = self.lock();
        if let Some(last) = last.as_ref().filter(|last| last.ended.elapsed() < KEPT.max(last.took)) {
            return last.value.clone();
        }
        *last = None; // its memory, before there is another one
        let start = Instant::now();
        let value = Arc::new(make());
        let ended = Instant::now();
        *last = Some(Last { value: value.clone(), ended, took: ended - start });
        value
    }

    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Last<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
