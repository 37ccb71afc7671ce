//! A crowd of threads that begin together, whoever makes them.

use crate::work::locking::Threads;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Where a crowd gathers: a turnstile, and the place behind it. A thread that has passed does not begin
/// before all have: it may be the next one's worker that it would keep busy.
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

/// Lets others run until it is so; sleeps now and then, as a kernel thread that yields in a loop, and has a
/// real-time priority, may keep the very one that it waits for from running.
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

/// Runs `body(0)`, `body(1)` and so on in a thread each, in turn on the workers; the time from the instant
/// when all have come and have been let go until the last has done it.
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
