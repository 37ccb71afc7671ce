//! Input and output: waiting for descriptors, and a pool for the calls that can only block.
//!
//! | file | what it is |
//! |---|---|
//! | [`source`] | the event loops: [`Epoll`](source::Epoll), one for each worker |
//! | `readiness` | what one descriptor is waited for, and by whom |
//! | `socket` | a descriptor with its readiness: "try, and wait when the kernel says so" |
//! | `pool` | kernel threads for calls that can only block ([`block`], [`block_async`]) |
//! | `sendfile` | file to socket inside the kernel, without a worker that waits for a disk |
//!
//! The rule of the room: **the system call comes first**. Nothing is registered, locked or allocated for an operation
//! that can be done at once; only `EAGAIN` leads to the reactor of the worker, and only then does a host block.

pub(crate) mod pool;
pub(crate) mod readiness;
pub mod source;
mod wakes;

#[cfg(not(loom))]
pub(crate) mod closed;
#[cfg(not(loom))]
pub(crate) mod offset;
#[cfg(not(loom))]
pub(crate) mod options;
#[cfg(not(loom))]
mod poll;
#[cfg(not(loom))]
mod sendfile;
#[cfg(not(loom))]
pub(crate) mod socket;
#[cfg(not(loom))]
pub(crate) mod whole;

#[cfg(not(loom))]
pub use pool::{block, block_async};

#[cfg(not(loom))]
use crate::sched::source::SourceFactory;
#[cfg(not(loom))]
use std::sync::Arc;

/// What this room gives to a runtime: an epoll loop for each worker, and one pool of at most `blocking_threads` for all
/// of them. The pool ends when the last worker, and with it the factory, is gone.
#[cfg(not(loom))]
pub(crate) fn sources(blocking_threads: usize) -> Vec<SourceFactory> {
    let pool = pool::Pool::new(blocking_threads);
    vec![Arc::new(move || {
        pool.install();
        Ok(Box::new(source::Epoll::new()?))
    })]
}
