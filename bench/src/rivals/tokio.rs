//! tokio: `current_thread` for one worker, `multi_thread` for more.
//!
//! All measured code runs in spawned tasks, because a future under `block_on` itself is polled by a slower
//! path. tokio has no rendezvous channel; `mpsc::channel(1)` is the nearest. A crowd waits on a `broadcast`,
//! which needs no memory per receiver beyond the task.

use crate::harness::{Runner, Sample};
use crate::work::policies::{CROWDS, Intervals};
use crate::work::{idle, memory, pingpong, ring, spawn, timers, yielding};
use ::tokio::net::TcpListener;
use ::tokio::runtime::{Builder, Runtime};
use ::tokio::sync::{broadcast, mpsc};
use ::tokio::task::yield_now;
use ::tokio::time::{sleep, timeout};
use anyhow::{Result, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub(super) fn runtime(workers: usize) -> Result<Runtime> {
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    // `current_thread` ignores the number.
    Ok(builder.worker_threads(workers).enable_all().build()?)
}

/// Runs `main` as a task.
pub(super) fn run<T: Send + 'static>(runtime: &Runtime, main: impl Future<Output = T> + Send + 'static) -> T {
    runtime.block_on(async { ::tokio::spawn(main).await.expect("no task of a bench panics") })
}

/// 500 tasks that yield in a loop.
pub fn yielding(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(yielding::HOSTS);
        let took = run(&runtime, async move {
            let begun = Instant::now();
            let tasks: Vec<_> = (0..yielding::HOSTS).map(|_| ::tokio::spawn(yields(rounds))).collect();
            for task in tasks {
                task.await.expect("yielding does not panic");
            }
            begun.elapsed()
        });
        Ok(vec![Sample::ns_each("yield", took, rounds * yielding::HOSTS)])
    }))
}

/// The scheduling interval: see `benches::policies`.
pub fn policies(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let mut samples = Vec::new();
        for crowd in CROWDS {
            let rounds = (n / crowd).max(2);
            samples.extend(run(&runtime, async move {
                let tasks: Vec<_> = (0..crowd).map(|_| ::tokio::spawn(notes(rounds))).collect();
                let mut all = Vec::new();
                for task in tasks {
                    all.push(task.await.expect("yielding does not panic"));
                }
                Intervals::samples(crowd, all)
            }));
        }
        Ok(samples)
    }))
}

async fn notes(rounds: u64) -> Intervals {
    yield_now().await;
    let (mut seen, mut last) = (Intervals::default(), Instant::now());
    for _ in 0..rounds {
        yield_now().await;
        seen.note(&mut last);
    }
    seen
}

async fn yields(rounds: u64) {
    for _ in 0..rounds {
        yield_now().await;
    }
}

/// Spawn and join, one by one and in batches.
pub fn spawn(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(spawn::BATCH);
        let (single, batched) = run(&runtime, async move {
            let begun = Instant::now();
            for i in 0..batches * spawn::BATCH {
                let got = ::tokio::spawn(async move { i }).await.expect("returning does not panic");
                assert_eq!(got, i);
            }
            let single = begun.elapsed();
            let begun = Instant::now();
            let mut tasks = Vec::with_capacity(spawn::BATCH as usize);
            for _ in 0..batches {
                tasks.extend((0..spawn::BATCH).map(|i| ::tokio::spawn(async move { i })));
                for (i, task) in tasks.drain(..).enumerate() {
                    assert_eq!(task.await.expect("returning does not panic"), i as u64);
                }
            }
            (single, begun.elapsed())
        });
        Ok(spawn::samples(single, batched, batches))
    }))
}

/// Two tasks and two channels, with one message in flight.
pub fn pingpong(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        let took = run(&runtime, async move {
            let (ping, mut pinged) = mpsc::channel::<u64>(1);
            let (pong, mut ponged) = mpsc::channel::<u64>(1);
            let echo = ::tokio::spawn(async move {
                while let Some(i) = pinged.recv().await {
                    pong.send(i).await.expect("the pinger waits for the pong");
                }
            });
            let begun = Instant::now();
            for i in 0..rounds {
                ping.send(i).await.expect("the echo lives");
                assert_eq!(ponged.recv().await, Some(i));
            }
            let took = begun.elapsed();
            drop(ping);
            echo.await.expect("the echo does not panic");
            took
        });
        Ok(pingpong::samples(took, rounds))
    }))
}

/// A token in a ring of 503 tasks.
pub fn ring(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |hops| {
        let took = run(&runtime, async move {
            let (first, mut rx) = mpsc::channel::<u64>(1);
            let (done, mut finished) = mpsc::channel::<()>(1);
            for _ in 1..ring::HOSTS {
                let (tx, next) = mpsc::channel(1);
                ::tokio::spawn(pass(std::mem::replace(&mut rx, next), tx, done.clone()));
            }
            ::tokio::spawn(pass(rx, first.clone(), done));
            let begun = Instant::now();
            first.send(hops).await.expect("the ring lives");
            finished.recv().await.expect("the ring reports");
            begun.elapsed()
        });
        Ok(ring::samples(took, hops))
    }))
}

async fn pass(mut rx: mpsc::Receiver<u64>, tx: mpsc::Sender<u64>, done: mpsc::Sender<()>) {
    while let Some(left) = rx.recv().await {
        if left == 0 {
            done.send(()).await.expect("the bench waits");
            return;
        }
        if tx.send(left - 1).await.is_err() {
            return;
        }
    }
}

/// A crowd of tasks that wait on one broadcast.
pub fn memory(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        run(&runtime, async move {
            let started = Arc::new(AtomicU64::new(0));
            let (gate, _) = broadcast::channel::<()>(1);
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                let (started, mut gate) = (started.clone(), gate.subscribe());
                ::tokio::spawn(async move {
                    // Relaxed: a count, on one worker.
                    started.fetch_add(1, Relaxed);
                    gate.recv().await
                });
            }
            // Relaxed: a count, on one worker.
            while started.load(Relaxed) < n {
                yield_now().await;
            }
            crowd.blocked()
        })
    }))
}

/// A crowd of sleepers, and a ping-pong with timeouts beside them.
pub fn timers(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        run(&runtime, async move {
            let crowd = Arc::new(timers::Crowd::new(n));
            let (gate, _) = broadcast::channel::<()>(1);
            let (done, mut finished) = mpsc::channel(1);
            for i in 0..n {
                let (crowd, mut gate, done) = (crowd.clone(), gate.subscribe(), done.clone());
                ::tokio::spawn(async move {
                    crowd.started();
                    let _closed = gate.recv().await;
                    sleep(crowd.arm(i)).await;
                    if let Some(at) = crowd.fired() {
                        done.send(at).await.expect("the bench waits");
                    }
                });
            }
            while !crowd.all_started() {
                yield_now().await;
            }
            let arming = crowd.begin();
            drop(gate);
            while !crowd.all_armed() {
                yield_now().await;
            }
            let armed = arming.elapsed();
            let cancels = under_timeouts(timers::rounds(n)).await;
            crowd.still_armed()?;
            let last = finished.recv().await.expect("the last sleeper reports");
            Ok(crowd.samples(armed, cancels, last))
        })
    }))
}

/// `rounds` of a ping-pong in which every receive has a timeout that never expires.
async fn under_timeouts(rounds: u64) -> Duration {
    let (ping, mut pinged) = mpsc::channel::<u64>(1);
    let (pong, mut ponged) = mpsc::channel::<u64>(1);
    ::tokio::spawn(async move {
        while let Ok(Some(i)) = timeout(timers::NEVER, pinged.recv()).await {
            pong.send(i).await.expect("the pinger waits for the pong");
        }
    });
    let begun = Instant::now();
    for i in 0..rounds {
        ping.send(i).await.expect("the echo lives");
        assert_eq!(timeout(timers::NEVER, ponged.recv()).await, Ok(Some(i)));
    }
    begun.elapsed()
}

/// Tasks that wait for messages and for a connection that never come.
pub fn idle(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        run(&runtime, async move {
            let (gate, _) = broadcast::channel::<()>(1);
            for _ in 0..idle::HOSTS {
                let mut gate = gate.subscribe();
                ::tokio::spawn(async move { gate.recv().await });
            }
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let accept = ::tokio::spawn(async move { listener.accept().await.map(drop) });
            let (settle, window) = idle::times(n);
            sleep(settle).await;
            let idle = idle::Window::open()?;
            sleep(window).await;
            let samples = idle.close()?;
            ensure!(!accept.is_finished(), "nobody was to connect");
            Ok(samples)
        })
    }))
}
