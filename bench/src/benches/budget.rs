//! Two parasites that keep each other busy, and a host that waits to run.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::tokio_tasks;
use crate::work::budget::Waits;
use anyhow::Result;
use lamprey::{ParasiteHandle, Receiver, Sender};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "budget",
    about: "two parasites play ping-pong: with nobody else there (alone), or while a host yields in a loop; ns for each message, \
            and for how long the host waits at a yield (p50, p99, us)",
    workers: &[1],
    size: Size::UntilTakes { first: 10_000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("alone", |w| alone(w, lamprey::channel)),
        Variant::ours("alone-inline", |w| alone(w, lamprey::channel_attach_inline)),
        Variant::ours("lamprey", |w| beside(w, lamprey::channel)),
        Variant::ours("lamprey-inline", |w| beside(w, lamprey::channel_attach_inline)),
        Variant::rival("tokio", tokio_tasks::budget),
    ],
};

type Channel = fn() -> (Sender<u64>, Receiver<u64>);

/// Two parasites that play `rounds` of a ping-pong, and end.
fn players(channel: Channel, rounds: u64) -> [ParasiteHandle<()>; 2] {
    let (ping, pinged) = channel();
    let (pong, ponged) = channel();
    let echo = lamprey::parasite(async move {
        while let Ok(i) = pinged.recv_async().await {
            pong.send_async(i).await.expect("the pinger waits for the pong");
        }
    });
    let pinger = lamprey::parasite(async move {
        // The players wait until the clock has started.
        lamprey::yield_now_async().await;
        for i in 0..rounds {
            ping.send_async(i).await.expect("the echo lives");
            assert_eq!(ponged.recv_async().await, Ok(i));
        }
    });
    [pinger, echo]
}

fn alone(workers: usize, channel: Channel) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        let took = runtime.run(move || {
            let players = players(channel, rounds);
            let begun = Instant::now();
            players.into_iter().for_each(|player| player.join().expect("no player panics"));
            begun.elapsed()
        });
        Ok(vec![Sample::ns_each("message", took, rounds * 2)])
    }))
}

fn beside(workers: usize, channel: Channel) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        runtime.run(move || {
            let players = players(channel, rounds);
            let mut waits = Waits::default();
            let begun = Instant::now();
            let mut last = begun;
            while !players[0].is_finished() {
                lamprey::yield_now();
                let now = Instant::now();
                waits.add(now - last);
                last = now;
            }
            let took = last - begun;
            players.into_iter().for_each(|player| player.join().expect("no player panics"));
            waits.samples(took, rounds * 2)
        })
    }))
}
