//! What one thread sends to a worker to be done there.

use super::worker::Worker;
use crate::sync_shim::Cell;
use std::ptr::NonNull;

/// What a worker is asked to do through its inbox: the head of a larger object.
pub(crate) struct Errand {
    pub(crate) link: Cell<*mut ()>,
    /// Called on the worker's root, or with `None` where the worker has ended; neither blocks nor unwinds.
    pub(crate) run: unsafe fn(NonNull<Errand>, Option<&Worker>),
}
