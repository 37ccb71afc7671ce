//! Threads, a mutex and a condition variable, whoever makes them: the benches of locks are written once over [`Threads`], so that
//! Lamprey and the libraries of OS threads run the same loops. tokio and Go, who have other forms, have loops of their own.

use anyhow::Result;
use std::ops::DerefMut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

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

/// Where a crowd gathers: a turnstile, and the place behind it. A thread that has passed does not begin before all have: it may be the
/// next one's worker that it would keep busy.
struct Gate<T: Threads> {
    crowd: usize,
    come: AtomicUsize,
    turnstile: T::Mutex<()>,
    passed: AtomicUsize,
    begun: OnceLock<Instant>,
}

impl<T: Threads> Gate<T> {
    fn new(crowd: usize) -> Self {
        let count = || AtomicUsize::new(0);
        Self { crowd, come: count(), turnstile: T::mutex(()), passed: count(), begun: OnceLock::new() }
    }

    fn pass(&self) {
        // Relaxed: it only counts; the turnstile orders what is before and after.
        self.come.fetch_add(1, Relaxed);
        drop(T::lock(&self.turnstile));
        // Relaxed: it only counts.
        if self.passed.fetch_add(1, Relaxed) + 1 == self.crowd {
            self.begun.set(Instant::now()).expect("one is the last");
        }
        until(|| self.begun.get().is_some(), T::yield_now);
    }
}

/// Lets others run until it is so; sleeps now and then, as a kernel thread that yields in a loop, and has a real-time priority, may keep
/// the very one that it waits for from running.
pub fn until(is_so: impl Fn() -> bool, yield_now: impl Fn()) {
    for look in 1.. {
        if is_so() {
            return;
        }
        yield_now();
        if look % 256 == 0 {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Runs `body(0)`, `body(1)` and so on in a thread each, in turn on the workers; the time from the instant when all have come and
/// have been let go until the last has done it.
pub fn crowd<T: Threads>(
    threads: usize,
    workers: usize,
    body: impl Fn(usize) + Send + Sync + 'static,
) -> Duration {
    let all = Arc::new((Gate::<T>::new(threads), T::mutex(Instant::now()), AtomicUsize::new(threads), body));
    let closed = T::lock(&all.0.turnstile);
    let spawn = |i: usize| {
        let all = all.clone();
        T::spawn(Some(i % workers), move || {
            let (gate, ended, left, body) = &*all;
            gate.pass();
            body(i);
            // Relaxed: it only counts; the mutex is what orders the time.
            if left.fetch_sub(1, Relaxed) == 1 {
                *T::lock(ended) = Instant::now();
            }
        })
    };
    let handles: Vec<_> = (0..threads).map(spawn).collect();
    // Relaxed: as in `pass`.
    until(|| all.0.come.load(Relaxed) == threads, T::yield_now);
    drop(closed);
    handles.into_iter().for_each(T::join);
    let begun = all.0.begun.get().expect("all have passed");
    *T::lock(&all.1) - *begun
}
