//! A crowd of threads that begin together, for any library of threads.

use crate::work::locking::Threads;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The start of a crowd: a turnstile, and a wait behind it. No thread begins before all have passed, because
/// it might keep the worker of the next one busy.
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
        // Relaxed: only a count; the turnstile orders the accesses before and after.
        self.come.fetch_add(1, Relaxed);
        drop(T::lock(&self.turnstile));
        // Relaxed: only a count.
        if self.passed.fetch_add(1, Relaxed) + 1 == self.crowd {
            self.begun.set(Instant::now()).expect("one is the last");
        }
        until(|| self.begun.get().is_some(), T::yield_now);
    }
}

/// Yields until `is_so`. Sleeps now and then, because a kernel thread with a real-time priority that yields
/// in a loop may keep the thread that it waits for from running.
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

/// Runs `body(0)`, `body(1)` and so on in a thread each, in turn on the workers; returns the time from the
/// moment when all have arrived and are let go until the last has ended.
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
            // Relaxed: only a count; the mutex orders the time.
            if left.fetch_sub(1, Relaxed) == 1 {
                *T::lock(ended) = Instant::now();
            }
        })
    };
    let handles: Vec<_> = (0..threads).map(spawn).collect();
    // Relaxed: only a count.
    until(|| all.0.come.load(Relaxed) == threads, T::yield_now);
    drop(closed);
    handles.into_iter().for_each(T::join);
    let begun = all.0.begun.get().expect("all have passed");
    *T::lock(&all.1) - *begun
}
