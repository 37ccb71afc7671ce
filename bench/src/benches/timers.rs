//! A million sleepers.
//!
//! The sleepers are made first and wait for a gate. Opening it arms them all, for one instant (spread over 10
//! ms, out of order) far enough ahead that all are armed by then. Meanwhile two threads play ping-pong with a
//! timeout on every receive, as programs arm and cancel timers. Then the sleepers wake.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::timers::{Crowd, NEVER, rounds};
use anyhow::Result;
use lamprey::with_timeout_async;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "timers",
    about: "1,000,000 threads (quick: 100,000) that sleep; arm: ns each to be woken and fall asleep; cancel: ns for a message \
            received under a timeout while they sleep; fire: ns each from the first deadline until all have woken",
    workers: &[1],
    size: Size::Exactly { full: 1_000_000, quick: 100_000, tiny: 1000 },
    runs: 5,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::ours("parasites", parasites),
        Variant::rival("tokio", tokio::timers),
        Variant::rival("may", may::timers),
        Variant::go(),
    ],
};

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let crowd = Arc::new(Crowd::new(n));
            let (gate, closed) = lamprey::channel::<()>();
            let (done, finished) = lamprey::channel();
            for i in 0..n {
                let (crowd, closed, done) = (crowd.clone(), closed.clone(), done.clone());
                lamprey::spawn(move || {
                    crowd.started();
                    let _closed = closed.recv();
                    lamprey::sleep(crowd.arm(i));
                    if let Some(at) = crowd.fired() {
                        done.send(at).expect("the bench waits");
                    }
                });
            }
            while !crowd.all_started() {
                lamprey::yield_now();
            }
            let arming = crowd.begin();
            drop(gate);
            while !crowd.all_armed() {
                lamprey::yield_now();
            }
            let armed = arming.elapsed();
            let cancels = under_timeouts(rounds(n));
            crowd.still_armed()?;
            let last = finished.recv().expect("the last sleeper reports");
            Ok(crowd.samples(armed, cancels, last))
        })
    }))
}

/// `rounds` of a ping-pong in which every receive has a timeout that never expires.
fn under_timeouts(rounds: u64) -> Duration {
    let (ping, pinged) = lamprey::channel::<u64>();
    let (pong, ponged) = lamprey::channel::<u64>();
    lamprey::spawn(move || {
        while let Ok(i) = pinged.recv_timeout(NEVER) {
            pong.send(i).expect("the pinger waits for the pong");
        }
    });
    let begun = Instant::now();
    for i in 0..rounds {
        ping.send(i).expect("the echo lives");
        assert_eq!(ponged.recv_timeout(NEVER).ok(), Some(i));
    }
    begun.elapsed()
}

fn parasites(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let crowd = Arc::new(Crowd::new(n));
            let (gate, closed) = lamprey::channel::<()>();
            let (done, finished) = lamprey::channel();
            for i in 0..n {
                let (crowd, closed, done) = (crowd.clone(), closed.clone(), done.clone());
                lamprey::parasite(async move {
                    crowd.started();
                    let _closed = closed.recv_async().await;
                    lamprey::sleep_async(crowd.arm(i)).await;
                    if let Some(at) = crowd.fired() {
                        done.send_async(at).await.expect("the bench waits");
                    }
                })
                .detach();
            }
            while !crowd.all_started() {
                lamprey::yield_now();
            }
            let arming = crowd.begin();
            drop(gate);
            while !crowd.all_armed() {
                lamprey::yield_now();
            }
            let armed = arming.elapsed();
            let pings = lamprey::parasite(parasites_under_timeouts(rounds(n)));
            let cancels = pings.join().expect("the ping-pong does not panic");
            crowd.still_armed()?;
            let last = finished.recv().expect("the last sleeper reports");
            Ok(crowd.samples(armed, cancels, last))
        })
    }))
}

/// The same, of two parasites.
async fn parasites_under_timeouts(rounds: u64) -> Duration {
    let (ping, pinged) = lamprey::channel::<u64>();
    let (pong, ponged) = lamprey::channel::<u64>();
    lamprey::parasite(async move {
        while let Ok(Ok(i)) = with_timeout_async(NEVER, pinged.recv_async()).await {
            pong.send_async(i).await.expect("the pinger waits for the pong");
        }
    })
    .detach();
    let begun = Instant::now();
    for i in 0..rounds {
        ping.send_async(i).await.expect("the echo lives");
        assert_eq!(with_timeout_async(NEVER, ponged.recv_async()).await, Ok(Ok(i)));
    }
    begun.elapsed()
}
