//! Locks, all of which are events too.
//!
//! They block the calling host (or parasite, or OS thread), not its worker, and may be held across blocking calls. Every wait can
//! be limited, cancelled, awaited, and be one of several in a [`choose`](crate::event::choose).
//!
//! Reading order: `policy` (what can be chosen), `line` (the wait line that all of them are built on), [`mutex`], [`condvar`], `err`;
//! `semaphore`, `rwlock`; `barrier` and `once`, which hand nothing over and are built on the gate of the channels; `order` (deadlocks that
//! have not happened yet).

/// A `const fn`, but for the checker, whose atomics have no constants.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const fn $($rest)*
        #[cfg(loom)]
        $(#[$meta])*
        $vis fn $($rest)*
    };
}
pub(crate) use const_fn;

#[cfg(not(loom))]
mod barrier;
mod err;
mod line;
mod mutex;
#[cfg(not(loom))]
mod once;
mod order;
mod policy;
mod rwlock;
mod semaphore;

#[cfg(not(loom))]
pub use barrier::{Barrier, BarrierWaitResult};
pub use err::{LockError, LockTimeoutError, Poisoned, TryLockError};
pub use mutex::{LockEvt, Mutex, MutexGuard, MutexOptions};
#[cfg(not(loom))]
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub use policy::{Order, Wake};
pub use rwlock::{ReadResult, RwLock, RwLockEvt, RwLockReadGuard, RwLockWriteGuard, WriteResult};
pub use semaphore::{
    AcquireError, AcquireEvt, AcquireTimeoutError, Semaphore, SemaphorePermit, TryAcquireError,
};
