//! The scheduler kit: what a step of a thread costs, and a thread itself.

use crate::harness::{Bench, Sample, Size, Variant, warm};
use crate::rivals::{smol, tokio, tokio_tasks};
use crate::work::memory::Crowd;
use crate::work::parasite_crowd::Common;
use crate::work::yielding::HOSTS;
use anyhow::Result;
use lamprey::trace::{Call, Trace, fork, nbio, yield_};
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// See `about`.
pub const STEPS: Bench = Bench {
    name: "trace",
    about: "500 threads of the scheduler kit on a scheduler of a dozen lines make system calls in a loop; ns for each round of one thread: \
            `yield` alone, and `nbio` (of a function that adds) then `yield`. Rivals: the same number of threads yield",
    workers: &[1],
    size: Size::UntilTakes { first: HOSTS * 20, goal: Duration::from_millis(50) },
    runs: 11,
    variants: &[
        Variant::ours("yield", |_| {
            Ok(Box::new(|n| {
                Ok(rounds(n, "yield", |rounds| async move {
                    for _ in 0..rounds {
                        yield_().await;
                    }
                }))
            }))
        }),
        Variant::ours("nbio-yield", |_| {
            Ok(Box::new(|n| {
                Ok(rounds(n, "yield", |rounds| async move {
                    let mut sum = 0;
                    for round in 0..rounds {
                        sum += nbio(|| black_box(round)).await;
                        yield_().await;
                    }
                    black_box(sum);
                }))
            }))
        }),
        Variant::rival("tokio", tokio::yielding),
    ],
};

/// Ten million threads.
pub const CROWD: Bench = Bench {
    name: "trace_crowd",
    about: "10,000,000 threads (quick: 1,000,000) of the scheduler kit that yield in a loop, in a fresh process; bytes (resident pages and page tables, the \
            ready queue among them) and ns for each (Li and Zdancewic, 2007, 5.1: 48 bytes)",
    workers: &[1],
    size: Size::Exactly { full: 10_000_000, quick: 1_000_000, tiny: 1000 },
    runs: 5,
    variants: &[
        Variant::ours("yield", |_| Ok(Box::new(crowd))),
        Variant::rival("tokio-yield", tokio_tasks::crowd_yielding),
        Variant::rival("smol-yield", smol::crowd_yielding),
    ],
};

/// Runs 500 threads, of `n` rounds together, round-robin.
fn rounds<T: Future<Output = ()> + Send + 'static>(
    n: u64,
    metric: &str,
    thread: fn(u64) -> T,
) -> Vec<Sample> {
    let each = n.div_ceil(HOSTS);
    let begun = Instant::now();
    let mut ready = VecDeque::from([Trace::new(async move {
        for _ in 0..HOSTS {
            fork(thread(each)).await;
        }
    })]);
    run(&mut ready, u64::MAX);
    vec![Sample::ns_each(metric, begun.elapsed(), each * HOSTS)]
}

/// The scheduler: as many steps as `steps`, or until no thread is left.
fn run(ready: &mut VecDeque<Trace>, steps: u64) {
    for _ in 0..steps {
        let Some(trace) = ready.pop_front() else { return };
        match trace.step() {
            Call::Yield(rest) => ready.push_back(rest),
            // The function is called and its thread goes on until it yields.
            Call::Nbio(io) => ready.push_front(io.perform()),
            Call::Fork { child, parent } => ready.extend([child, parent]),
            Call::Ret => {}
            call => panic!("a call of another kind: {call:?}"),
        }
    }
}

fn crowd(n: u64) -> Result<Vec<Sample>> {
    let common = Common::new();
    warm::memory(n * 64)?;
    let crowd = Crowd::begin(n)?;
    let mut ready = VecDeque::with_capacity(n as usize);
    for _ in 0..n {
        ready.push_back(Trace::new(async move {
            loop {
                common.count();
                yield_().await;
            }
        }));
    }
    run(&mut ready, n);
    let mut samples = crowd.blocked()?;
    let (begun, before) = (Instant::now(), common.counted());
    run(&mut ready, n);
    samples.push(Sample::ns_each("yield", begun.elapsed(), common.counted() - before));
    Ok(samples)
}
