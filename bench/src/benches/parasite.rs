//! One parasite at a time: its cost if it ends at once, and if it blocks once.

use super::ours::{for_ever, runtime};
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::{smol, tokio_tasks};
use crate::work::parasite::{AT_ONCE, BLOCKS};
use anyhow::Result;
use lamprey::channel;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "parasite",
    about: "start a thread that returns a number, and join it: at_once; start one that receives a number from a channel, send \
            it the number once it waits, and join it: blocks; ns for each thread",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("stackless", |w| runner(w, &[(AT_ONCE, stackless), (BLOCKS, stackless_blocks)])),
        Variant::ours("stackless-inline", |w| runner(w, &[(BLOCKS, stackless_inline_blocks)])),
        Variant::ours("stackful", |w| runner(w, &[(AT_ONCE, stackful), (BLOCKS, stackful_blocks)])),
        Variant::ours("stackful-inline", |w| runner(w, &[(BLOCKS, stackful_inline_blocks)])),
        Variant::ours("host", |w| runner(w, &[(AT_ONCE, host), (BLOCKS, host_blocks)])),
        Variant::ours("call", |w| runner(w, &[(AT_ONCE, call)])),
        Variant::rival("tokio", tokio_tasks::parasite),
        Variant::rival("smol", smol::parasite),
        Variant::go(),
    ],
};

/// A metric and the loop that measures it.
type Loop = (&'static str, fn(u64) -> Duration);

/// Runs each of `loops` on a host.
fn runner(workers: usize, loops: &'static [Loop]) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let timed = |&(metric, run): &Loop| Sample::ns_each(metric, runtime.run(move || run(n)), n);
        Ok(loops.iter().map(timed).collect())
    }))
}

/// Times `one` with each number up to `n`; `one` returns the number.
#[inline(always)]
fn each(n: u64, mut one: impl FnMut(u64) -> u64) -> Duration {
    let begun = Instant::now();
    for i in 0..n {
        assert_eq!(one(i), i);
    }
    begun.elapsed()
}

fn stackless(n: u64) -> Duration {
    each(n, |i| lamprey::parasite(async move { i }).join().expect("returning does not panic"))
}

fn stackful(n: u64) -> Duration {
    each(n, |i| lamprey::parasite_fn(move || i).join().expect("returning does not panic"))
}

fn host(n: u64) -> Duration {
    each(n, |i| lamprey::spawn(move || i).join().expect("returning does not panic"))
}

/// The baseline: a call of a function that the compiler cannot inline.
fn call(n: u64) -> Duration {
    let number = black_box((|i| i) as fn(u64) -> u64);
    each(n, number)
}

fn stackless_blocks(n: u64) -> Duration {
    stackless_resumed(n, channel())
}

fn stackless_inline_blocks(n: u64) -> Duration {
    stackless_resumed(n, lamprey::channel_attach_inline())
}

#[inline(always)]
fn stackless_resumed(n: u64, ends: (lamprey::Sender<u64>, lamprey::Receiver<u64>)) -> Duration {
    let (tx, rx) = for_ever(ends);
    each(n, |i| {
        let parasite = lamprey::parasite(rx.recv_async());
        tx.send(i).expect("the channel is for ever");
        parasite.join().expect("receiving does not panic").expect("the channel is for ever")
    })
}

fn stackful_blocks(n: u64) -> Duration {
    stackful_resumed(n, channel())
}

fn stackful_inline_blocks(n: u64) -> Duration {
    stackful_resumed(n, lamprey::channel_attach_inline())
}

#[inline(always)]
fn stackful_resumed(n: u64, ends: (lamprey::Sender<u64>, lamprey::Receiver<u64>)) -> Duration {
    let (tx, rx) = for_ever(ends);
    each(n, |i| {
        let parasite = lamprey::parasite_fn(|| rx.recv());
        tx.send(i).expect("the channel is for ever");
        parasite.join().expect("receiving does not panic").expect("the channel is for ever")
    })
}

fn host_blocks(n: u64) -> Duration {
    let (tx, rx) = for_ever(channel());
    each(n, |i| {
        let host = lamprey::spawn(|| rx.recv());
        lamprey::yield_now();
        tx.send(i).expect("the channel is for ever");
        host.join().expect("receiving does not panic").expect("the channel is for ever")
    })
}
