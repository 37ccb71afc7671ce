//! A stream of numbers from one thread to another, over the two buffered channels.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{threads, tokio_events};
use crate::work::stream::{PLACES, samples};
use anyhow::Result;
use std::time::{Duration, Instant};

const SIZE: Size = Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) };

/// See `about`.
pub const BOUNDED: Bench = Bench {
    name: "stream_bounded",
    about: "a thread sends numbers to another over a channel with 64 places; ns for each number, from before the producer is \
            started. `crossbeam` and `flume` have two OS threads, with one worker on one core; `flume-tokio` has tasks",
    workers: &[1, 2],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("lamprey", |w| runner(w, bounded)),
        Variant::ours("parasites", |w| runner(w, bounded_parasites)),
        Variant::rival("tokio", tokio_events::stream_bounded),
        Variant::rival("crossbeam", threads::crossbeam_bounded),
        Variant::rival("flume", threads::flume_bounded),
        Variant::rival("flume-tokio", tokio_events::stream_flume),
        Variant::go(),
    ],
};

/// See `about`.
pub const MAILBOX: Bench = Bench {
    name: "stream_mailbox",
    about: "as stream_bounded, over a channel without a bound; the producer yields after each 64, or it would fill the memory first \
            (OS threads do not: a yield is a system call there, and they are interrupted anyway)",
    workers: &[1, 2],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("lamprey", |w| runner(w, mailbox)),
        Variant::ours("parasites", |w| runner(w, mailbox_parasites)),
        Variant::rival("tokio", tokio_events::stream_unbounded),
        Variant::rival("crossbeam", threads::crossbeam_unbounded),
        Variant::rival("flume", threads::flume_unbounded),
    ],
};

const LIVES: &str = "the other end lives";

fn runner(workers: usize, stream: fn(u64)) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = runtime.run(move || {
            let begun = Instant::now();
            stream(n);
            begun.elapsed()
        });
        Ok(samples(took, n))
    }))
}

fn bounded(n: u64) {
    let (tx, rx) = lamprey::bounded(PLACES as usize);
    lamprey::spawn(move || (0..n).for_each(|i| tx.send(i).expect(LIVES)));
    (0..n).for_each(|i| assert_eq!(rx.recv(), Ok(i)));
}

fn bounded_parasites(n: u64) {
    let (tx, rx) = lamprey::bounded(PLACES as usize);
    let consumer = lamprey::parasite(async move {
        for i in 0..n {
            assert_eq!(rx.recv_async().await, Ok(i));
        }
    });
    let producer = async move {
        for i in 0..n {
            tx.send_async(i).await.expect(LIVES);
        }
    };
    lamprey::parasite(producer).detach();
    consumer.join().expect("the numbers are in order");
}

fn mailbox(n: u64) {
    let (tx, mut rx) = lamprey::mailbox();
    lamprey::spawn(move || {
        for i in 0..n {
            tx.send(i).expect(LIVES);
            if i % PLACES == 0 {
                lamprey::yield_now();
            }
        }
    });
    (0..n).for_each(|i| assert_eq!(rx.recv(), Ok(i)));
}

fn mailbox_parasites(n: u64) {
    let (tx, mut rx) = lamprey::mailbox();
    let consumer = lamprey::parasite(async move {
        for i in 0..n {
            assert_eq!(rx.recv_async().await, Ok(i));
        }
    });
    let producer = async move {
        for i in 0..n {
            tx.send(i).expect(LIVES);
            if i % PLACES == 0 {
                lamprey::yield_now_async().await;
            }
        }
    };
    lamprey::parasite(producer).detach();
    consumer.join().expect("the numbers are in order");
}
