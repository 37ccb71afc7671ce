//! tokio's counterparts of Lamprey's locks: its own mutex, or std's, which its documentation recommends for
//! locks that are not held across an `await`; and `Notify` as a condition variable.

use super::tokio::{run, runtime};
use crate::harness::Runner;
use crate::work::condvar::{self, MANY, PLACES};
use crate::work::mutex;
use ::tokio::sync::{Barrier, Mutex, Notify};
use anyhow::Result;
use std::collections::VecDeque;
use std::ops::DerefMut;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Additions under one mutex.
pub fn mutex(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = mutex::rounded(n);
        let (alone, contended) = run(&runtime, async move { (alone(n).await, contended(n).await) });
        Ok(mutex::samples(n, alone, contended))
    }))
}

async fn add(number: &Mutex<u64>, times: u64) {
    for _ in 0..times {
        *number.lock().await += 1;
    }
}

async fn alone(n: u64) -> Duration {
    let number = Mutex::new(0);
    let begun = Instant::now();
    add(&number, n).await;
    let took = begun.elapsed();
    assert_eq!(*number.lock().await, n);
    took
}

async fn contended(n: u64) -> Duration {
    let shared = Arc::new((Mutex::new(0), Barrier::new(mutex::THREADS + 1)));
    let spawn = |_| {
        let shared = shared.clone();
        ::tokio::spawn(async move {
            shared.1.wait().await;
            add(&shared.0, n / mutex::THREADS as u64).await;
            Instant::now()
        })
    };
    let tasks: Vec<_> = (0..mutex::THREADS).map(spawn).collect();
    shared.1.wait().await;
    let begun = Instant::now();
    let mut last = begun;
    for task in tasks {
        last = last.max(task.await.expect("adding does not panic"));
    }
    assert_eq!(*shared.0.lock().await, n);
    last - begun
}

/// Either of the two mutexes.
trait Lock: Send + Sync + 'static {
    fn new(numbers: VecDeque<u64>) -> Self;
    fn lock(&self) -> impl Future<Output = impl DerefMut<Target = VecDeque<u64>>> + Send;
}

impl Lock for Mutex<VecDeque<u64>> {
    fn new(numbers: VecDeque<u64>) -> Self {
        Self::new(numbers)
    }

    fn lock(&self) -> impl Future<Output = impl DerefMut<Target = VecDeque<u64>>> + Send {
        Mutex::lock(self)
    }
}

impl Lock for std::sync::Mutex<VecDeque<u64>> {
    fn new(numbers: VecDeque<u64>) -> Self {
        Self::new(numbers)
    }

    async fn lock(&self) -> impl DerefMut<Target = VecDeque<u64>> {
        std::sync::Mutex::lock(self).expect("nobody panics with the lock")
    }
}

struct Queue<L> {
    numbers: L,
    not_full: Notify,
    not_empty: Notify,
}

/// Repeats `attempt` until it succeeds, and waits to be notified in between. The waiter is queued before the
/// second attempt: a notification without a waiter is kept, but only one.
macro_rules! until {
    ($attempt:expr, $notify:expr) => {
        loop {
            if let Some(done) = $attempt {
                break done;
            }
            let mut notified = pin!($notify.notified());
            notified.as_mut().enable();
            if let Some(done) = $attempt {
                break done;
            }
            notified.await;
        }
    };
}

impl<L: Lock> Queue<L> {
    async fn put(&self, number: u64) {
        until!(self.try_put(number).await, self.not_full);
        self.not_empty.notify_one();
    }

    async fn try_put(&self, number: u64) -> Option<()> {
        let mut numbers = self.numbers.lock().await;
        (numbers.len() < PLACES).then(|| numbers.push_back(number))
    }

    async fn take(&self) -> u64 {
        let number = until!(self.try_take().await, self.not_empty);
        self.not_full.notify_one();
        number
    }

    async fn try_take(&self) -> Option<u64> {
        self.numbers.lock().await.pop_front()
    }
}

/// The bounded queue, with tokio's mutex.
pub fn condvar(workers: usize) -> Result<Runner> {
    queue::<Mutex<VecDeque<u64>>>(workers)
}

/// The bounded queue, with std's mutex.
pub fn condvar_std(workers: usize) -> Result<Runner> {
    queue::<std::sync::Mutex<VecDeque<u64>>>(workers)
}

fn queue<L: Lock>(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = condvar::rounded(n);
        let both = async move { (through_one_queue::<L>(n, 1).await, through_one_queue::<L>(n, MANY).await) };
        let (pair, many) = run(&runtime, both);
        Ok(condvar::samples(n, pair, many))
    }))
}

async fn through_one_queue<L: Lock>(n: u64, producers: u64) -> Duration {
    let begun = Instant::now();
    let each = n / producers;
    let numbers = L::new(VecDeque::with_capacity(PLACES));
    let queue = Arc::new(Queue { numbers, not_full: Notify::new(), not_empty: Notify::new() });
    let received = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for _ in 0..producers {
        let producer = queue.clone();
        tasks.push(::tokio::spawn(async move {
            for i in 0..each {
                producer.put(i).await;
            }
        }));
        let (consumer, received) = (queue.clone(), received.clone());
        tasks.push(::tokio::spawn(async move {
            let mut sum = 0;
            for _ in 0..each {
                sum += consumer.take().await;
            }
            // Relaxed: awaiting the task orders it before the load below.
            received.fetch_add(sum, Relaxed);
        }));
    }
    for task in tasks {
        task.await.expect("no task of a bench panics");
    }
    let took = begun.elapsed();
    // Relaxed: the tasks were awaited, which orders their additions before this.
    assert_eq!(received.load(Relaxed), condvar::sum(each, producers));
    took
}
