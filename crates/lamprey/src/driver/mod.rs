//! What drives a worker from outside: its event loop, and the pool of threads for calls that can only block.
//!
//! | file | what it is |
//! |---|---|
//! | `launch` | starts the workers of a runtime, with their timers, event loops and pool |
//! | [`epoll`], `reactor` | the event loop: [`Epoll`](epoll::Epoll), one for each worker, and the part of it that sockets see |
//! | `readiness` | what one descriptor is waited for, and by whom |
//! | `poll` | waiting in the kernel, for threads that have no event loop |
//! | `pool` | kernel threads for calls that can only block ([`block`], [`block_async`]) |
//! | `outside` | what serves futures that are polled outside of every worker |

#[cfg(not(loom))]
pub(crate) mod epoll;
#[cfg(not(loom))]
pub(crate) mod launch;
#[cfg(not(loom))]
pub(crate) mod outside;
#[cfg(not(loom))]
mod poll;
pub(crate) mod pool;
pub(crate) mod reactor;
pub(crate) mod readiness;
mod wakes;

#[cfg(not(loom))]
pub use epoll::Epoll;
#[cfg(not(loom))]
pub use pool::{block, block_async};
