//! [`RemoteMessage`]: a remote message, a function that one thread sends to a worker's inbox to be run there.

use super::worker::Worker;
use crate::sync_shim::Cell;
use std::ptr::NonNull;

/// The head of a larger object that holds the message's data.
pub(crate) struct RemoteMessage {
    pub(crate) link: Cell<*mut ()>,
    /// Called on the worker's root, or with `None` by the sender if the worker has ended. Must neither block
    /// nor unwind.
    pub(crate) run: unsafe fn(NonNull<RemoteMessage>, Option<&Worker>),
}
