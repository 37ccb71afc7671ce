//! tokio's counterparts of Lamprey's events and buffered channels ([`tokio`](super::tokio) has the rest), and
//! flume on tokio's tasks.
//!
//! `select!` takes at most 64 branches; among 64 receivers a task polls them itself, each time beginning
//! after the last one, as the macro's code does.

use super::tokio::{run, runtime};
use crate::harness::{Runner, Sample, warm};
use crate::work::select::BATCH;
use crate::work::stream::PLACES;
use crate::work::{channels, memory, oneshot, select, stream};
use ::tokio::sync::{Notify, mpsc};
use ::tokio::task::yield_now;
use anyhow::{Context, Result};
use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;
use std::time::{Duration, Instant};

type Ends = (Vec<mpsc::Sender<u64>>, Vec<mpsc::Receiver<u64>>);

fn ends(n: u64, places: u64) -> Ends {
    (0..n).map(|_| mpsc::channel(places as usize)).unzip()
}

const LIVES: &str = "both ends live";

/// `select!` with a branch for each receiver.
macro_rules! select_of {
    ($($rx:ident)+) => {
        ::tokio::select! { $(got = $rx.recv() => got,)+ }
    };
}

/// Choices among 2, 8 and 64 receivers, one of which has a message.
pub fn select(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(BATCH);
        let took =
            run(&runtime, async move { [of_2(batches).await, of_8(batches).await, of_64(batches).await] });
        Ok(select::samples(batches * BATCH, took))
    }))
}

fn fill(tx: &mpsc::Sender<u64>) -> Instant {
    (0..BATCH).for_each(|i| tx.try_send(i).expect("the buffer is empty"));
    Instant::now()
}

async fn of_2(batches: u64) -> Duration {
    let (txs, mut rxs) = ends(2, BATCH);
    let [a, b] = rxs.get_disjoint_mut([0, 1]).expect("there are two");
    let mut took = Duration::ZERO;
    for batch in 0..batches {
        let begun = fill(&txs[batch as usize % 2]);
        for i in 0..BATCH {
            assert_eq!(select_of!(a b), Some(i));
        }
        took += begun.elapsed();
    }
    took
}

async fn of_8(batches: u64) -> Duration {
    let (txs, mut rxs) = ends(8, BATCH);
    let [a, b, c, d, e, f, g, h] = rxs.get_disjoint_mut([0, 1, 2, 3, 4, 5, 6, 7]).expect("there are eight");
    let mut took = Duration::ZERO;
    for batch in 0..batches {
        let begun = fill(&txs[batch as usize % 8]);
        for i in 0..BATCH {
            assert_eq!(select_of!(a b c d e f g h), Some(i));
        }
        took += begun.elapsed();
    }
    took
}

async fn of_64(batches: u64) -> Duration {
    let (txs, mut rxs) = ends(64, BATCH);
    let mut first = 0;
    let mut took = Duration::ZERO;
    for batch in 0..batches {
        let begun = fill(&txs[batch as usize % 64]);
        for i in 0..BATCH {
            first = (first + 1) % rxs.len();
            let got = poll_fn(|cx| {
                let (before, from) = rxs.split_at_mut(first);
                let mut polled = from.iter_mut().chain(before).map(|rx| rx.poll_recv(cx));
                polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
            });
            assert_eq!(got.await, Some(i));
        }
        took += begun.elapsed();
    }
    took
}

/// A choice among 8 that waits.
pub fn select_blocks(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = run(&runtime, async move {
            let (txs, mut rxs) = ends(8, 1);
            let [a, b, c, d, e, f, g, h] =
                rxs.get_disjoint_mut([0, 1, 2, 3, 4, 5, 6, 7]).expect("there are eight");
            let sender = ::tokio::spawn(async move {
                for i in 0..n {
                    txs[i as usize % 8].send(i).await.expect(LIVES);
                    yield_now().await;
                }
            });
            let begun = Instant::now();
            for i in 0..n {
                assert_eq!(select_of!(a b c d e f g h), Some(i));
            }
            let took = begun.elapsed();
            sender.await.expect("sending does not panic");
            took
        });
        Ok(vec![Sample::ns_each("choice", took, n)])
    }))
}

/// A stream over a channel with 64 places.
pub fn stream_bounded(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = run(&runtime, async move {
            let begun = Instant::now();
            let (tx, mut rx) = mpsc::channel(PLACES as usize);
            ::tokio::spawn(async move {
                for i in 0..n {
                    tx.send(i).await.expect(LIVES);
                }
            });
            for i in 0..n {
                assert_eq!(rx.recv().await, Some(i));
            }
            begun.elapsed()
        });
        Ok(stream::samples(took, n))
    }))
}

/// The same, over flume's channel.
pub fn stream_flume(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = run(&runtime, async move {
            let begun = Instant::now();
            let (tx, rx) = flume::bounded(PLACES as usize);
            ::tokio::spawn(async move {
                for i in 0..n {
                    tx.send_async(i).await.expect(LIVES);
                }
            });
            for i in 0..n {
                assert_eq!(rx.recv_async().await, Ok(i));
            }
            begun.elapsed()
        });
        Ok(stream::samples(took, n))
    }))
}

/// A stream over an unbounded channel.
pub fn stream_unbounded(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = run(&runtime, async move {
            let begun = Instant::now();
            let (tx, mut rx) = mpsc::unbounded_channel();
            ::tokio::spawn(async move {
                for i in 0..n {
                    tx.send(i).expect(LIVES);
                    if i % PLACES == 0 {
                        yield_now().await;
                    }
                }
            });
            for i in 0..n {
                assert_eq!(rx.recv().await, Some(i));
            }
            begun.elapsed()
        });
        Ok(stream::samples(took, n))
    }))
}

/// A oneshot, from its creation to its end.
pub fn oneshot(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = run(&runtime, async move {
            let begun = Instant::now();
            for i in 0..n {
                let (tx, rx) = ::tokio::sync::oneshot::channel();
                tx.send(black_box(i)).expect("the receiver is here");
                assert_eq!(rx.await, Ok(i));
            }
            begun.elapsed()
        });
        Ok(oneshot::samples(took, n))
    }))
}

/// A crowd of tasks that wait on one `Notify`, then a crowd in which each task has a channel.
pub fn channels(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        run(&runtime, async move {
            warm::memory(n * 1536)?;
            let gate: &Notify = Box::leak(Box::default());
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                ::tokio::spawn(gate.notified());
            }
            // All tasks are in one queue, in front of this task.
            yield_now().await;
            let shared = crowd.blocked()?;
            let mut senders = Vec::with_capacity(n as usize);
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                let (tx, mut rx) = mpsc::channel::<u64>(1);
                ::tokio::spawn(async move { rx.recv().await });
                senders.push(tx);
            }
            yield_now().await;
            Ok(channels::samples(&shared, crowd.blocked()?))
        })
    }))
}

/// One number from each of 2, 8 or 64 producers at a time, with `join_all`.
pub fn join_all(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = n.next_multiple_of(64);
        let of = |name, producers| {
            let took = run(&runtime, gather(n / producers, producers));
            took.map(|took| Sample::ns_each(name, took, n))
        };
        Ok(vec![of("of_2", 2)?, of("of_8", 8)?, of("of_64", 64)?])
    }))
}

async fn gather(rounds: u64, producers: u64) -> Result<Duration> {
    let (txs, mut rxs) = ends(producers, 1);
    let begun = Instant::now();
    for tx in txs {
        ::tokio::spawn(async move {
            for i in 0..rounds {
                tx.send(i).await.expect("the consumer lives");
            }
        });
    }
    let mut sum = 0;
    for _ in 0..rounds {
        let got = futures_util::future::join_all(rxs.iter_mut().map(mpsc::Receiver::recv)).await;
        sum += got.into_iter().sum::<Option<u64>>().context("a producer has left")?;
    }
    let took = begun.elapsed();
    assert_eq!(sum, producers * (0..rounds).sum::<u64>());
    Ok(took)
}
