//! Threads, a mutex and a condition variable, of any library: the benches of locks are written once over
//! [`Threads`], so that Lamprey and the libraries of OS threads run the same loops. tokio and Go have
//! different APIs, and loops of their own.

use anyhow::Result;
use std::ops::DerefMut;

/// A library of threads and locks.
pub trait Threads: 'static {
    /// The setup for all runs.
    type Stage: 'static;
    /// The handle that joins a thread.
    type Handle: 'static;
    /// A mutex around a value.
    type Mutex<T: Send + 'static>: Send + Sync + 'static;
    /// The value while the mutex is locked.
    type Guard<'a, T: Send + 'static>: DerefMut<Target = T>;

    /// Sets up for a number of workers.
    fn stage(workers: usize) -> Result<Self::Stage>;
    /// Runs `main` as a thread of the library.
    fn on<R: Send + 'static>(stage: &Self::Stage, main: impl FnOnce() -> R + Send + 'static) -> R;
    /// Starts a thread, on this worker if one is given.
    fn spawn(worker: Option<usize>, body: impl FnOnce() + Send + 'static) -> Self::Handle;
    /// Waits for the thread's end.
    fn join(handle: Self::Handle);
    /// Lets other threads run.
    fn yield_now();
    /// Makes a mutex.
    fn mutex<T: Send + 'static>(value: T) -> Self::Mutex<T>;
    /// Locks it, waiting if necessary.
    fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T>;
}

/// A library that also has condition variables.
pub trait Condvars: Threads {
    /// A condition variable for guards of its mutexes.
    type Condvar: Send + Sync + 'static;

    /// Makes a condition variable.
    fn condvar() -> Self::Condvar;
    /// Unlocks, waits for a notification, and locks again.
    fn wait<'a, T: Send + 'static>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T>;
    /// Wakes one waiter.
    fn notify_one(condvar: &Self::Condvar);
}
