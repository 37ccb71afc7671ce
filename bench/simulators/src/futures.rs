//! The program as futures, over tokio's channels, which work on every executor.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc::unbounded_channel;

/// Polls of all [`Counted`] that have ended.
static POLLS: AtomicU64 = AtomicU64::new(0);

/// Polls of tasks since the last call.
pub fn polls() -> u64 {
    // Relaxed: only a count, of one kernel thread.
    POLLS.swap(0, Ordering::Relaxed)
}

/// A task that counts its polls.
pub struct Counted<F> {
    task: Pin<Box<F>>,
    polls: u64,
}

impl<F> Counted<F> {
    /// Counts the polls of `task`.
    pub fn new(task: F) -> Self {
        Self { task: Box::pin(task), polls: 0 }
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.polls += 1;
        self.task.as_mut().poll(context)
    }
}

impl<F> Drop for Counted<F> {
    fn drop(&mut self) {
        // Relaxed: only a count.
        POLLS.fetch_add(self.polls, Ordering::Relaxed);
    }
}

/// The tasks of a pair.
pub fn pair(
    rounds: u64,
) -> (impl Future<Output = ()> + Send + 'static, impl Future<Output = ()> + Send + 'static) {
    let (ping, mut pinged) = unbounded_channel::<u64>();
    let (pong, mut ponged) = unbounded_channel::<u64>();
    let pinger = Counted::new(async move {
        for i in 0..rounds {
            ping.send(i).expect("the echo lives");
            assert_eq!(ponged.recv().await, Some(i));
        }
    });
    let echo = Counted::new(async move {
        while let Some(i) = pinged.recv().await {
            pong.send(i).expect("the pinger waits for the pong");
        }
    });
    (pinger, echo)
}
