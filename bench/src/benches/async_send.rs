//! The asynchronous send of *Lightweight Asynchrony Using Parasitic Threads*, 2011, 5.2 (Table 1), against the synchronous one.

use super::ours::{for_ever, runtime};
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use anyhow::Result;
use lamprey::Sender;
use lamprey::event::AsyncEvent;
use std::time::{Duration, Instant};

/// Messages between two yields of the producer. Without yields an asynchronous producer would never let the
/// consumer run.
const BATCH: u64 = 100;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "async_send",
    about: "a host sends numbers to another and yields after each 100: itself (sync), or on a new parasite or host for each \
            number, which it does not wait for, or as an asynchronous event; ns for each message until all are received",
    workers: &[1, 2],
    size: Size::UntilTakes { first: BATCH * 10, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("sync", |w| runner(w, |n| stream(n, |tx, i| tx.send(i).expect(LIVES)))),
        Variant::ours("parasite", |w| runner(w, |n| stream(n, stackless))),
        Variant::ours("parasite_fn", |w| runner(w, |n| stream(n, stackful))),
        Variant::ours("host", |w| runner(w, |n| stream(n, host))),
        Variant::ours("a_send_evt", |w| runner(w, |n| stream(n, event))),
    ],
};

const LIVES: &str = "the consumer lives";

fn runner(workers: usize, run: fn(u64) -> Duration) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = n.next_multiple_of(BATCH);
        Ok(vec![Sample::ns_each("message", runtime.run(move || run(n)), n)])
    }))
}

#[inline(always)]
fn stream(n: u64, send: impl Fn(&'static Sender<u64>, u64)) -> Duration {
    let (tx, rx) = for_ever(lamprey::channel());
    let consumer = lamprey::spawn(move || (0..n).map(|_| rx.recv().expect("the channel is for ever")).sum());
    let begun = Instant::now();
    for batch in 0..n / BATCH {
        for i in 0..BATCH {
            send(tx, batch * BATCH + i);
        }
        lamprey::yield_now();
    }
    let sum: u64 = consumer.join().expect("receiving does not panic");
    let took = begun.elapsed();
    assert_eq!(sum, (0..n).sum::<u64>());
    took
}

#[inline(always)]
fn stackless(tx: &'static Sender<u64>, i: u64) {
    lamprey::parasite(tx.send_async(i)).detach();
}

#[inline(always)]
fn stackful(tx: &'static Sender<u64>, i: u64) {
    lamprey::parasite_fn(move || tx.send(i)).detach();
}

/// Drops the handle, which lets its host run on.
#[inline(always)]
fn host(tx: &'static Sender<u64>, i: u64) {
    lamprey::spawn(move || tx.send(i));
}

/// Clones the sender, which is part of the event.
#[inline(always)]
fn event(tx: &'static Sender<u64>, i: u64) {
    tx.a_send_evt(i).a_sync();
}
