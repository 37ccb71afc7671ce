//! may: stackful coroutines in Rust, with work stealing.
//!
//! Default stacks (32 KiB, one mapping and one guard each). may's channels are unbounded; with one message in
//! flight the work is the same. `spsc` is the cheapest of them for one sender and one receiver.

use crate::harness::{Runner, Sample};
use crate::work::{idle, memory, pingpong, ring, spawn, timers, yielding};
use ::may::coroutine::{JoinHandle, sleep, yield_now};
use ::may::net::TcpListener;
use ::may::sync::{mpmc, mpsc, spsc};
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The sleep between checks, where the other variants yield: with may a coroutine that yields in a loop keeps
/// new ones from starting.
const TICK: Duration = Duration::from_millis(1);

/// Sets the number of workers. may has one scheduler for the process; it starts with the first coroutine.
pub(super) fn workers(n: usize) {
    ::may::config().set_workers(n);
}

pub(super) fn go<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    // SAFETY: no coroutine of these benches uses thread-local storage across a call that may block, and none
    // needs more stack than the default.
    unsafe { ::may::coroutine::spawn(f) }
}

/// Runs `main` as a coroutine.
fn run<T: Send + 'static>(main: impl FnOnce() -> T + Send + 'static) -> T {
    go(main).join().expect("no coroutine of a bench panics")
}

/// 500 coroutines that yield in a loop.
pub fn yielding(n: usize) -> Result<Runner> {
    workers(n);
    Ok(Box::new(|n| {
        let rounds = n.div_ceil(yielding::HOSTS);
        let took = run(move || {
            let begun = Instant::now();
            let yields = move || (0..rounds).for_each(|_| yield_now());
            let all: Vec<_> = (0..yielding::HOSTS).map(|_| go(yields)).collect();
            all.into_iter().for_each(|c| c.join().expect("yielding does not panic"));
            begun.elapsed()
        });
        Ok(vec![Sample::ns_each("yield", took, rounds * yielding::HOSTS)])
    }))
}

/// Spawn and join, one by one and in batches.
pub fn spawn(n: usize) -> Result<Runner> {
    workers(n);
    Ok(Box::new(|n| {
        let batches = n.div_ceil(spawn::BATCH);
        let (single, batched) = run(move || {
            let begun = Instant::now();
            for i in 0..batches * spawn::BATCH {
                assert_eq!(go(move || i).join().expect("returning does not panic"), i);
            }
            let single = begun.elapsed();
            let begun = Instant::now();
            let mut all = Vec::with_capacity(spawn::BATCH as usize);
            for _ in 0..batches {
                all.extend((0..spawn::BATCH).map(|i| go(move || i)));
                for (i, coroutine) in all.drain(..).enumerate() {
                    assert_eq!(coroutine.join().expect("returning does not panic"), i as u64);
                }
            }
            (single, begun.elapsed())
        });
        Ok(spawn::samples(single, batched, batches))
    }))
}

/// Two coroutines and two channels, with one message in flight.
pub fn pingpong(n: usize) -> Result<Runner> {
    workers(n);
    Ok(Box::new(|n| {
        let rounds = n.div_ceil(2);
        let took = run(move || {
            let (ping, pinged) = spsc::channel::<u64>();
            let (pong, ponged) = spsc::channel::<u64>();
            let echo = go(move || {
                while let Ok(i) = pinged.recv() {
                    pong.send(i).expect("the pinger waits for the pong");
                }
            });
            let begun = Instant::now();
            for i in 0..rounds {
                ping.send(i).expect("the echo lives");
                assert_eq!(ponged.recv(), Ok(i));
            }
            let took = begun.elapsed();
            drop(ping);
            echo.join().expect("the echo does not panic");
            took
        });
        Ok(pingpong::samples(took, rounds))
    }))
}

/// A token in a ring of 503 coroutines.
pub fn ring(n: usize) -> Result<Runner> {
    workers(n);
    Ok(Box::new(|hops| {
        let took = run(move || {
            let (first, mut rx) = spsc::channel::<u64>();
            let (done, finished) = mpsc::channel::<()>();
            for _ in 1..ring::HOSTS {
                let (tx, next) = spsc::channel();
                let (rx, done) = (std::mem::replace(&mut rx, next), done.clone());
                go(move || pass(&rx, &tx, &done));
            }
            // The last channel leads back to the first coroutine, and its only sender must be the last
            // coroutine, because the bench starts the token from there.
            let begun = Instant::now();
            go(move || {
                first.send(hops).expect("the ring lives");
                pass(&rx, &first, &done);
            });
            finished.recv().expect("the ring reports");
            begun.elapsed()
        });
        Ok(ring::samples(took, hops))
    }))
}

fn pass(rx: &spsc::Receiver<u64>, tx: &spsc::Sender<u64>, done: &mpsc::Sender<()>) {
    while let Ok(left) = rx.recv() {
        if left == 0 {
            done.send(()).expect("the bench waits");
            return;
        }
        if tx.send(left - 1).is_err() {
            return;
        }
    }
}

/// A crowd of coroutines that wait on one channel.
pub fn memory(workers_wanted: usize) -> Result<Runner> {
    workers(workers_wanted);
    Ok(Box::new(|n| {
        run(move || {
            let started = Arc::new(AtomicU64::new(0));
            let (_gate, closed) = mpmc::channel::<()>();
            let crowd = memory::Crowd::begin(n)?;
            for _ in 0..n {
                let (started, closed) = (started.clone(), closed.clone());
                go(move || {
                    // Relaxed: a count, on one worker.
                    started.fetch_add(1, Relaxed);
                    closed.recv()
                });
            }
            // Relaxed: a count, on one worker.
            while started.load(Relaxed) < n {
                sleep(TICK);
            }
            crowd.blocked()
        })
    }))
}

/// A crowd of sleepers, and a ping-pong with timeouts beside them.
pub fn timers(workers_wanted: usize) -> Result<Runner> {
    workers(workers_wanted);
    Ok(Box::new(|n| {
        run(move || {
            let crowd = Arc::new(timers::Crowd::new(n));
            let (gate, closed) = mpmc::channel::<()>();
            let (done, finished) = mpsc::channel();
            for i in 0..n {
                let (crowd, closed, done) = (crowd.clone(), closed.clone(), done.clone());
                go(move || {
                    crowd.started();
                    let _closed = closed.recv();
                    sleep(crowd.arm(i));
                    if let Some(at) = crowd.fired() {
                        done.send(at).expect("the bench waits");
                    }
                });
            }
            while !crowd.all_started() {
                sleep(TICK);
            }
            let arming = crowd.begin();
            drop(gate);
            while !crowd.all_armed() {
                sleep(TICK);
            }
            let armed = arming.elapsed();
            let cancels = under_timeouts(timers::rounds(n));
            crowd.still_armed()?;
            let last = finished.recv().expect("the last sleeper reports");
            Ok(crowd.samples(armed, cancels, last))
        })
    }))
}

/// `rounds` of a ping-pong in which every receive has a timeout that never expires.
fn under_timeouts(rounds: u64) -> Duration {
    let (ping, pinged) = mpsc::channel::<u64>();
    let (pong, ponged) = mpsc::channel::<u64>();
    go(move || {
        while let Ok(i) = pinged.recv_timeout(timers::NEVER) {
            pong.send(i).expect("the pinger waits for the pong");
        }
    });
    let begun = Instant::now();
    for i in 0..rounds {
        ping.send(i).expect("the echo lives");
        assert_eq!(ponged.recv_timeout(timers::NEVER), Ok(i));
    }
    begun.elapsed()
}

/// Coroutines that wait for messages and for a connection that never come.
pub fn idle(n: usize) -> Result<Runner> {
    workers(n);
    Ok(Box::new(|n| {
        run(move || {
            let (_gate, closed) = mpmc::channel::<()>();
            for _ in 0..idle::HOSTS {
                let closed = closed.clone();
                go(move || closed.recv());
            }
            let listener = TcpListener::bind("127.0.0.1:0")?;
            go(move || listener.accept().map(drop));
            let (settle, window) = idle::times(n);
            sleep(settle);
            let idle = idle::Window::open()?;
            sleep(window);
            idle.close()
        })
    }))
}
