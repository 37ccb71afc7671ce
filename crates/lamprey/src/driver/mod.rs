//! What connects a worker to the kernel: its event loop, and the pool of threads for blocking calls.
//!
//! | file | content |
//! |---|---|
//! | `launch` | starts the workers of a runtime, with their timers, event loops and pools |
//! | [`epoll`], `reactor` | the event loop: [`Epoll`](epoll::Epoll), one for each worker, and the part of it that sockets use |
//! | `uring` | the event loop of io_uring: [`Uring`](uring::Uring), which has the kernel perform operations |
//! | `service`, `entries` | who serves a worker's ring while the worker computes; what waits to be given to the kernel |
//! | `backend` | which of the two a runtime has: [`Io`](backend::Io) |
//! | `readiness` | the threads and futures that wait for one descriptor |
//! | `wakes` | the wakes that are collected under a lock and given after it |
//! | `poll` | waiting in `poll(2)`, for threads that have no event loop |
//! | `pool` | kernel threads for calls that block ([`block`], [`block_async`]) or compute ([`compute`]), a pool for each class of them |
//! | `outside` | the services for futures that are polled outside of every worker |

#[cfg(not(loom))]
pub(crate) mod backend;
pub(crate) mod entries;
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
pub(crate) mod service;
#[cfg(not(loom))]
pub(crate) mod uring;
mod wakes;

#[cfg(not(loom))]
pub use backend::Io;
#[cfg(not(loom))]
pub use epoll::Epoll;
#[cfg(not(loom))]
pub use pool::{
    PoolFull, block, block_async, block_timeout, compute, compute_async, try_block, try_block_async,
};
#[cfg(not(loom))]
pub use uring::Uring;
