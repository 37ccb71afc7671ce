//! Threads, a mutex and a condition variable, whoever makes them: the benches of locks are written once over
//! [`Threads`], so that Lamprey and the libraries of OS threads run the same loops. tokio and Go, who have
//! other forms, have loops of their own.

use anyhow::Result;
use std::ops::DerefMut;

/// A library of threads and locks.
pub trait Threads: 'static {
    /// What is set up once for all runs.
    type Stage: 'static;
    /// What a thread is joined by.
    type Handle: 'static;
    /// A mutex around a value.
    type Mutex<T: Send + 'static>: Send + Sync + 'static;
    /// The value while the mutex is locked.
    type Guard<'a, T: Send + 'static>: DerefMut<Target = T>;

    /// Sets up for a number of workers.
    fn stage(workers: usize) -> Result<Self::Stage>;
    /// Runs `main` as a thread of the library.
    fn on<R: Send + 'static>(stage: &Self::Stage, main: impl FnOnce() -> R + Send + 'static) -> R;
    /// Starts a thread: on this worker, if it is said, else wherever the library wants.
    fn spawn(worker: Option<usize>, body: impl FnOnce() + Send + 'static) -> Self::Handle;
    /// Waits for its end.
    fn join(handle: Self::Handle);
    /// Lets other threads run.
    fn yield_now();
    /// A mutex.
    fn mutex<T: Send + 'static>(value: T) -> Self::Mutex<T>;
    /// Waits until it is free.
    fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T>;
}

/// One that has condition variables.
pub trait Condvars: Threads {
    /// For guards of its mutexes.
    type Condvar: Send + Sync + 'static;

    /// A condition variable.
    fn condvar() -> Self::Condvar;
    /// Unlocks, waits for a notification, locks.
    fn wait<'a, T: Send + 'static>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T>;
    /// Wakes one.
    fn notify_one(condvar: &Self::Condvar);
}
