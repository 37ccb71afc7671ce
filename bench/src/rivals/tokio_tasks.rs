//! tokio's tasks as the counterpart of Lamprey's parasites ([`tokio`](super::tokio) has the rest).
//!
//! A task does not start inside `spawn`, so if it must block first, the spawner yields. The receiver of an
//! `mpsc` channel cannot be shared: it is moved into the task and back, which costs less than making another.
//! A crowd waits on one `Notify`, which carries no value, but wakes one task at a time.

use super::tokio::{run, runtime};
use crate::harness::{Runner, Sample, warm};
use crate::work::parasite_crowd::Common;
use crate::work::{budget, memory, parasite, parasite_crowd, parasite_fib, spawn};
use ::tokio::runtime::Builder;
use ::tokio::sync::{Notify, mpsc};
use ::tokio::task::{JoinHandle, yield_now};
use anyhow::Result;
use std::time::{Duration, Instant};

/// A task that ends immediately, and one that waits and then receives a number.
pub fn parasite(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let (at_once, blocks) = run(&runtime, async move {
            let begun = Instant::now();
            for i in 0..n {
                let got = ::tokio::spawn(async move { i }).await.expect("returning does not panic");
                assert_eq!(got, i);
            }
            (begun.elapsed(), receivers(n).await)
        });
        Ok(parasite::samples(at_once, blocks, n))
    }))
}

/// Tasks that an OS thread spawns, and joins by `block_on`. One worker is a kernel thread of its own, too.
pub fn from_outside(workers: usize) -> Result<Runner> {
    let runtime = Builder::new_multi_thread().worker_threads(workers).build()?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(spawn::BATCH);
        let begun = Instant::now();
        for i in 0..batches * spawn::BATCH {
            assert_eq!(runtime.block_on(runtime.spawn(async move { i }))?, i);
        }
        let single = begun.elapsed();
        let begun = Instant::now();
        let mut tasks = Vec::with_capacity(spawn::BATCH as usize);
        for _ in 0..batches {
            tasks.extend((0..spawn::BATCH).map(|i| runtime.spawn(async move { i })));
            for (i, task) in tasks.drain(..).enumerate() {
                assert_eq!(runtime.block_on(task)?, i as u64);
            }
        }
        Ok(spawn::samples(single, begun.elapsed(), batches))
    }))
}

async fn receivers(n: u64) -> Duration {
    let (tx, mut rx) = mpsc::channel::<u64>(1);
    let begun = Instant::now();
    for i in 0..n {
        let task = ::tokio::spawn(async move { (rx.recv().await, rx) });
        yield_now().await;
        tx.send(i).await.expect("the receiver is on its way");
        let got;
        (got, rx) = task.await.expect("receiving does not panic");
        assert_eq!(got, Some(i));
    }
    begun.elapsed()
}

/// A crowd that waits on one `Notify`, then is woken one by one.
pub fn crowd_blocked(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        run(&runtime, async move {
            let [begun_all, common] = [(); 2].map(|()| Common::new());
            let gate: &Notify = Box::leak(Box::default());
            warm::memory(n * 512)?;
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                ::tokio::spawn(async move {
                    begun_all.count();
                    gate.notified().await;
                    common.count();
                });
            }
            while begun_all.counted() < n {
                yield_now().await;
            }
            let mut samples = crowd.blocked()?;
            let begun = Instant::now();
            for i in 0..n {
                gate.notify_one();
                if i % parasite_crowd::BATCH == 0 {
                    yield_now().await;
                }
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
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        run(&runtime, async move {
            let common = Common::new();
            warm::memory(n * 512)?;
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                ::tokio::spawn(async move {
                    while !common.is_over() {
                        common.count();
                        yield_now().await;
                    }
                });
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
    let runtime = runtime(workers)?;
    Ok(Box::new(move |times| {
        let took = run(&runtime, async move {
            let begun = Instant::now();
            for _ in 0..times {
                let got = task(parasite_fib::N).await.expect("adding does not panic");
                assert_eq!(got, parasite_fib::FIB);
            }
            begun.elapsed()
        });
        Ok(parasite_fib::samples(took, times))
    }))
}

fn task(n: u64) -> JoinHandle<u64> {
    ::tokio::spawn(call(n))
}

async fn call(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (one, two) = (task(n - 1), task(n - 2));
    one.await.expect("adding does not panic") + two.await.expect("adding does not panic")
}

/// Two tasks that play ping-pong while a third yields in a loop.
pub fn budget(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        run(&runtime, async move {
            let (ping, mut pinged) = mpsc::channel::<u64>(1);
            let (pong, mut ponged) = mpsc::channel::<u64>(1);
            ::tokio::spawn(async move {
                while let Some(i) = pinged.recv().await {
                    pong.send(i).await.expect("the pinger waits for the pong");
                }
            });
            let pinger = ::tokio::spawn(async move {
                for i in 0..rounds {
                    ping.send(i).await.expect("the echo lives");
                    assert_eq!(ponged.recv().await, Some(i));
                }
            });
            let mut waits = budget::Waits::default();
            let begun = Instant::now();
            let mut last = begun;
            while !pinger.is_finished() {
                yield_now().await;
                let now = Instant::now();
                waits.add(now - last);
                last = now;
            }
            pinger.await.expect("the pinger does not panic");
            waits.samples(last - begun, rounds * 2)
        })
    }))
}
