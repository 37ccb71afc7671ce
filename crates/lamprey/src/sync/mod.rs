//! Locks, all of which are events too.
//!
//! They block the calling host (or parasite, or OS thread), not its worker, and may be held across blocking
//! calls. Every wait can be limited, cancelled, awaited, and be one of several in a
//! [`choose`](crate::event::choose).
//!
//! # The order of locks
//! Two threads that take two locks in opposite orders wait for each other for ever, some day. Debug builds
//! watch which locks each thread holds while it takes another, and say so on standard error when the orders
//! differ for the first time, with all places, though nothing has gone wrong yet; also when a thread takes a
//! lock again that it holds already. The environment variable `LAMPREY_LOCK_ORDER` set to `panic` makes that
//! a panic,
//! `off` turns it off. Attempts that cannot deadlock (`try_lock`, limits of time, events, async code) are not
//! counted as taking after what is held, and what async code holds is not watched.

// Reading order: `policy` (what can be chosen), `line` (the wait line that all of them are built on),
// `mutex`, `condvar`, `err`, `poison`; `semaphore`, `rwlock`; `barrier`, `wait_group`, `once` and `ivar`, which hand
// nothing over and are built on the gate of the channels; `order` (deadlocks that have not happened yet).

mod barrier;
mod condvar;
mod err;
#[cfg(not(loom))]
pub mod ivar;
mod line;
mod mutex;
mod once;
mod order;
mod poison;
mod policy;
mod rwlock;
mod semaphore;
#[cfg(not(loom))]
mod wait_group;

pub use barrier::{Barrier, BarrierWaitFuture, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use err::{LockError, LockTimeoutError, Poisoned, TryLockError};
#[cfg(not(loom))]
pub use ivar::IVar;
pub use mutex::{LockEvt, Mutex, MutexGuard};
#[cfg(not(loom))]
pub use once::{LazyLock, LazyLockForceFuture};
pub use once::{Once, OnceLock, OnceLockWaitFuture, OnceState, OnceWaitFuture};
pub use policy::{LockOptions, Order, Wake};
pub use rwlock::{
    ReadResult, Reading, RwLock, RwLockEvt, RwLockReadGuard, RwLockWriteGuard, WriteResult, Writing,
};
pub use semaphore::{
    AcquireError, AcquireEvt, AcquireTimeoutError, Semaphore, SemaphorePermit, TryAcquireError,
};
#[cfg(not(loom))]
pub use wait_group::{WaitGroup, WaitGroupError, WaitGroupFuture, WaitGroupMember};
