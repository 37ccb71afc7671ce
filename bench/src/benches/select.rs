//! A choice among the receive ends of several channels: one with a number ready, and one that has to wait.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::{threads, tokio_events};
use crate::work::select::{BATCH, samples};
use anyhow::Result;
use lamprey::event::{Event, choose};
use lamprey::{Receiver, RecvError, Sender};
use std::array::from_fn;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "select",
    about: "one of 2, 8 or 64 channels has 100 numbers (each time the next one); 100 times a thread chooses among the receives of \
            all; ns for each choice. `lamprey`: 100 parasites wait in send on a rendezvous channel, a choice takes from one and \
            makes it ready, and their going on is not timed; `recv`: the same without a choice. All others have a buffer of 100, \
            filled before. `poll`: a choice that must not wait, among 12 channels that have nothing",
    workers: &[1],
    size: Size::UntilTakes { first: BATCH, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", |w| ready(w, rendezvous)),
        Variant::ours("bounded", |w| ready(w, buffered)),
        Variant::ours("recv", plain),
        Variant::ours("poll", in_vain),
        Variant::rival("tokio", tokio_events::select),
        Variant::rival("crossbeam", threads::select),
        Variant::go(),
    ],
};

/// See `about`.
pub const BLOCKS: Bench = Bench {
    name: "select_blocks",
    about: "a thread chooses among the receives of 8 channels and waits; another thread of the same worker sends on the next of the \
            8, and yields; ns for each choice. `crossbeam` has two OS threads on one core and, as they cannot yield to each other, \
            an acknowledgement over a ninth channel before each choice",
    workers: &[1],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", blocks),
        Variant::rival("tokio", tokio_events::select_blocks),
        Variant::rival("crossbeam", threads::select_blocks),
        Variant::go(),
    ],
};

const LIVES: &str = "both ends live";

fn ready(workers: usize, choices: fn(u64) -> [Duration; 3]) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(BATCH);
        Ok(samples(batches * BATCH, runtime.run(move || choices(batches))))
    }))
}

fn rendezvous(batches: u64) -> [Duration; 3] {
    [among::<2>(batches), among::<8>(batches), among::<64>(batches)]
}

fn among<const N: usize>(batches: u64) -> Duration {
    waiting_senders(batches, |ends: &[_; N]| choose(ends.each_ref().map(|(_, rx)| rx.recv_evt())).sync())
}

fn plain(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(BATCH);
        let took = runtime.run(move || waiting_senders(batches, |[(_, rx)]| rx.recv()));
        Ok(vec![Sample::ns_each("of_1", took, batches * BATCH)])
    }))
}

fn in_vain(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let [channel, bounded] = runtime.run(move || {
            let ends: [_; 12] = from_fn(|_| (lamprey::channel::<u64>(), lamprey::bounded::<u64>(1)));
            [
                misses(n, || choose(ends.each_ref().map(|((_, rx), _)| rx.recv_evt())).poll().is_none()),
                misses(n, || choose(ends.each_ref().map(|(_, (_, rx))| rx.recv_evt())).poll().is_none()),
            ]
        });
        Ok(vec![Sample::ns_each("channel", channel, n), Sample::ns_each("bounded", bounded, n)])
    }))
}

fn misses(n: u64, poll: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    (0..n).for_each(|_| assert!(poll(), "nothing was sent"));
    begun.elapsed()
}

#[inline(always)]
fn waiting_senders<const N: usize>(
    batches: u64,
    choice: impl Fn(&[(Sender<u64>, Receiver<u64>); N]) -> Result<u64, RecvError>,
) -> Duration {
    let ends: [_; N] = from_fn(|_| lamprey::channel::<u64>());
    let mut took = Duration::ZERO;
    for batch in 0..batches {
        let send = |i| {
            let tx = ends[batch as usize % N].0.clone();
            lamprey::parasite(async move { tx.send_async(i).await.expect(LIVES) })
        };
        let senders: Vec<_> = (0..BATCH).map(send).collect();
        took += choices(|| choice(&ends));
        senders.into_iter().for_each(|sender| sender.join().expect("sending does not panic"));
    }
    took
}

fn buffered(batches: u64) -> [Duration; 3] {
    [filled::<2>(batches), filled::<8>(batches), filled::<64>(batches)]
}

fn filled<const N: usize>(batches: u64) -> Duration {
    let ends: [_; N] = from_fn(|_| lamprey::bounded::<u64>(BATCH as usize));
    let mut took = Duration::ZERO;
    for batch in 0..batches {
        (0..BATCH).for_each(|i| ends[batch as usize % N].0.try_send(i).expect("the buffer is empty"));
        took += choices(|| choose(ends.each_ref().map(|(_, rx)| rx.recv_evt())).sync());
    }
    took
}

/// Runs a batch of choices.
#[inline(always)]
fn choices(choice: impl Fn() -> Result<u64, RecvError>) -> Duration {
    let begun = Instant::now();
    for i in 0..BATCH {
        assert_eq!(choice(), Ok(i));
    }
    begun.elapsed()
}

fn blocks(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = runtime.run(move || {
            let (senders, receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| lamprey::channel::<u64>()).unzip();
            let receivers: [_; 8] = receivers.try_into().expect("there are eight");
            let sender = lamprey::spawn(move || {
                for i in 0..n {
                    senders[i as usize % 8].send(i).expect(LIVES);
                    lamprey::yield_now();
                }
            });
            let begun = Instant::now();
            for i in 0..n {
                assert_eq!(choose(receivers.each_ref().map(|rx| rx.recv_evt())).sync(), Ok(i));
            }
            let took = begun.elapsed();
            sender.join().expect("sending does not panic");
            took
        });
        Ok(vec![Sample::ns_each("choice", took, n)])
    }))
}
