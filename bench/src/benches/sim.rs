//! The simulator: what a step costs, and a run.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::work::sim::{PAIRS, SEEDS, SMALL, of_long, of_short, rounds, timed};
use anyhow::Result;
use lamprey::Runtime;
use lamprey::sim::{Explore, Schedule, SimBuilder};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// See `about`.
pub const STEPS: Bench = Bench {
    name: "sim",
    about: "ten pairs of threads send a number to and fro over channels in a simulation that chooses by chance, under 8 seeds on one \
            kernel thread; ns of processor time. `step`: for hosts, a thread runs up to its next scheduling point; for shuttle, its \
            scheduler chooses; for parasites, madsim and turmoil, a poll of a task. `message`: one number to one thread. The number \
            behind a variant of Lamprey is that of its virtual workers. A first use builds the rivals (minutes)",
    workers: &[1],
    size: Size::UntilTakes { first: 16_000, goal: Duration::from_millis(100) },
    runs: 21,
    variants: &[
        Variant::ours("hosts-1", hosts::<1>),
        Variant::ours("hosts-2", hosts::<2>),
        Variant::ours("hosts-4", hosts::<4>),
        Variant::ours("parasites-1", parasites::<1>),
        Variant::ours("parasites-2", parasites::<2>),
        Variant::ours("parasites-4", parasites::<4>),
        Variant::simulator("madsim"),
        Variant::simulator("turmoil"),
        Variant::simulator("shuttle"),
        Variant::simulator("shuttle-futures"),
    ],
};

/// See `about`.
pub const RUNS: Bench = Bench {
    name: "sim_runs",
    about: "whole simulations, each under a seed of its own, on one kernel thread; us of processor time a run. `small`: two pairs as in \
            `sim`, ten rounds; `empty`: a program that does nothing",
    workers: &[1],
    size: Size::UntilTakes { first: 64, goal: Duration::from_millis(100) },
    runs: 21,
    variants: &[
        Variant::ours("hosts-1", short::<1, false>),
        Variant::ours("hosts-2", short::<2, false>),
        Variant::ours("hosts-4", short::<4, false>),
        Variant::ours("parasites-2", short::<2, true>),
        Variant::simulator("madsim"),
        Variant::simulator("turmoil"),
        Variant::simulator("shuttle"),
        Variant::simulator("shuttle-futures"),
    ],
};

fn simulate(sim: SimBuilder, workers: usize, program: fn(u64, u64), pairs: u64, rounds: u64) {
    sim.schedule(Schedule::Random).workers(workers).run(|| program(pairs, rounds));
}

fn all_seeds(workers: usize, program: fn(u64, u64), rounds: u64) {
    (0..SEEDS).for_each(|seed| simulate(Runtime::simulated(seed), workers, program, PAIRS, rounds));
}

fn hosts<const WORKERS: usize>(_: usize) -> Result<Runner> {
    let mut counted = (0, 0);
    Ok(Box::new(move |n| {
        let rounds = rounds(n);
        if counted.0 != n {
            // As many in each run by the same seed; `explore` tells how many.
            let explored = Explore::new(SEEDS)
                .threads(1)
                .run(|sim| simulate(sim, WORKERS, pairs_of_hosts, PAIRS, rounds));
            counted = (n, explored.steps);
        }
        let (took, ()) = timed(|| all_seeds(WORKERS, pairs_of_hosts, rounds))?;
        Ok(of_long(took, counted.1, rounds))
    }))
}

fn parasites<const WORKERS: usize>(_: usize) -> Result<Runner> {
    Ok(Box::new(|n| {
        let rounds = rounds(n);
        // Relaxed (both): only a count, of one kernel thread.
        POLLS.store(0, Ordering::Relaxed);
        let (took, ()) = timed(|| all_seeds(WORKERS, pairs_of_parasites, rounds))?;
        Ok(of_long(took, POLLS.load(Ordering::Relaxed), rounds))
    }))
}

fn short<const WORKERS: usize, const PARASITES: bool>(_: usize) -> Result<Runner> {
    let program = if PARASITES { pairs_of_parasites } else { pairs_of_hosts };
    Ok(Box::new(move |n| {
        let many = |pairs, rounds| {
            timed(|| {
                (0..n).for_each(|seed| simulate(Runtime::simulated(seed), WORKERS, program, pairs, rounds));
            })
        };
        Ok(of_short(many(SMALL.0, SMALL.1)?.0, many(0, 0)?.0, n))
    }))
}

fn pairs_of_hosts(pairs: u64, rounds: u64) {
    let mut threads = Vec::new();
    for _ in 0..pairs {
        let ((ping, pinged), (pong, ponged)) = (lamprey::channel::<u64>(), lamprey::channel::<u64>());
        threads.push(lamprey::spawn(move || {
            while let Ok(i) = pinged.recv() {
                pong.send(i).expect("the pinger waits for the pong");
            }
        }));
        threads.push(lamprey::spawn(move || {
            for i in 0..rounds {
                ping.send(i).expect("the echo lives");
                assert_eq!(ponged.recv().ok(), Some(i));
            }
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
}

fn pairs_of_parasites(pairs: u64, rounds: u64) {
    let mut threads = Vec::new();
    for _ in 0..pairs {
        let ((ping, pinged), (pong, ponged)) = (lamprey::channel::<u64>(), lamprey::channel::<u64>());
        threads.push(lamprey::parasite(Counted::new(async move {
            while let Ok(i) = pinged.recv_async().await {
                pong.send_async(i).await.expect("the pinger waits for the pong");
            }
        })));
        threads.push(lamprey::parasite(Counted::new(async move {
            for i in 0..rounds {
                ping.send_async(i).await.expect("the echo lives");
                assert_eq!(ponged.recv_async().await.ok(), Some(i));
            }
        })));
    }
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
}

/// Polls of all [`Counted`] that have ended.
static POLLS: AtomicU64 = AtomicU64::new(0);

/// A future that counts its polls, as the rivals' do.
struct Counted<F> {
    future: Pin<Box<F>>,
    polls: u64,
}

impl<F> Counted<F> {
    fn new(future: F) -> Self {
        Self { future: Box::pin(future), polls: 0 }
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.polls += 1;
        self.future.as_mut().poll(context)
    }
}

impl<F> Drop for Counted<F> {
    fn drop(&mut self) {
        // Relaxed: only a count.
        POLLS.fetch_add(self.polls, Ordering::Relaxed);
    }
}
