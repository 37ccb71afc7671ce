//! smol: its parts `async-executor`, `futures-lite` and `async-channel`.
//!
//! One executor for the process, as for `smol::spawn`; each worker is a kernel thread that runs it, and the
//! first worker is the caller of [`run`]. The measured code runs in tasks. smol has no rendezvous channel;
//! `bounded(1)` is the nearest.

use crate::harness::{Runner, Sample, warm};
use crate::work::parasite_crowd::Common;
use crate::work::{memory, parasite, parasite_fib};
use anyhow::Result;
use async_channel::bounded;
use async_executor::{Executor, Task};
use futures_lite::future::{block_on, pending, yield_now};
use std::time::{Duration, Instant};

static EXECUTOR: Executor<'static> = Executor::new();

/// Starts all workers but one.
fn start(workers: usize) {
    for _ in 1..workers {
        std::thread::spawn(|| block_on(EXECUTOR.run(pending::<()>())));
    }
}

/// Runs `main` as a task.
fn run<T: Send + 'static>(main: impl Future<Output = T> + Send + 'static) -> T {
    block_on(EXECUTOR.run(EXECUTOR.spawn(main)))
}

/// A task that ends immediately, and one that waits and then receives a number.
pub fn parasite(workers: usize) -> Result<Runner> {
    start(workers);
    Ok(Box::new(move |n| {
        let (at_once, blocks) = run(async move {
            let begun = Instant::now();
            for i in 0..n {
                assert_eq!(EXECUTOR.spawn(async move { i }).await, i);
            }
            (begun.elapsed(), receivers(n).await)
        });
        Ok(parasite::samples(at_once, blocks, n))
    }))
}

async fn receivers(n: u64) -> Duration {
    let (tx, rx) = Box::leak(Box::new(bounded::<u64>(1)));
    let begun = Instant::now();
    for i in 0..n {
        let task = EXECUTOR.spawn(rx.recv());
        yield_now().await;
        tx.send(i).await.expect("the channel is for ever");
        assert_eq!(task.await, Ok(i));
    }
    begun.elapsed()
}

/// A crowd that waits on one channel; then each task is sent a message.
pub fn crowd_blocked(workers: usize) -> Result<Runner> {
    start(workers);
    Ok(Box::new(move |n| {
        run(async move {
            let [begun_all, common] = [(); 2].map(|()| Common::new());
            let ends = &*Box::leak(Box::new(bounded::<u64>(1)));
            warm::memory(n * 256)?;
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                let receive = async move {
                    begun_all.count();
                    ends.1.recv().await.expect("the channel is for ever");
                    common.count();
                };
                EXECUTOR.spawn(receive).detach();
            }
            while begun_all.counted() < n {
                yield_now().await;
            }
            let mut samples = crowd.blocked()?;
            let begun = Instant::now();
            for i in 0..n {
                ends.0.send(i).await.expect("the channel is for ever");
            }
            while common.counted() < n {
                yield_now().await;
            }
            samples.push(Sample::ns_each("wake", begun.elapsed(), n));
            Ok(samples)
        })
    }))
}

/// A crowd that yields.
pub fn crowd_yielding(workers: usize) -> Result<Runner> {
    start(workers);
    Ok(Box::new(move |n| {
        run(async move {
            let common = Common::new();
            warm::memory(n * 256)?;
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                let turns = async move {
                    while !common.is_over() {
                        common.count();
                        yield_now().await;
                    }
                };
                EXECUTOR.spawn(turns).detach();
            }
            while common.counted() < n {
                yield_now().await;
            }
            let mut samples = crowd.blocked()?;
            let (begun, before) = (Instant::now(), common.counted());
            while common.counted() < before + n {
                yield_now().await;
            }
            samples.push(Sample::ns_each("yield", begun.elapsed(), common.counted() - before));
            common.end();
            Ok(samples)
        })
    }))
}

/// A task for each call of Fibonacci's function.
pub fn fib(workers: usize) -> Result<Runner> {
    start(workers);
    Ok(Box::new(move |times| {
        let took = run(async move {
            let begun = Instant::now();
            for _ in 0..times {
                assert_eq!(task(parasite_fib::N).await, parasite_fib::FIB);
            }
            begun.elapsed()
        });
        Ok(parasite_fib::samples(took, times))
    }))
}

fn task(n: u64) -> Task<u64> {
    EXECUTOR.spawn(call(n))
}

async fn call(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (one, two) = (task(n - 1), task(n - 2));
    one.await + two.await
}
