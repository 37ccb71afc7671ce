//! crossbeam-channel and flume on OS threads: on one core for one worker, on all for more.

use crate::harness::cores::stay_on;
use crate::harness::{Runner, Sample};
use crate::work::select::BATCH;
use crate::work::stream::PLACES;
use crate::work::{oneshot, select, stream};
use anyhow::Result;
use crossbeam_channel::{Receiver, Select, Sender, bounded, unbounded};
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

const LIVES: &str = "both ends live";

/// Pins the thread to one core for one worker; threads that it starts later inherit that.
pub fn cores(workers: usize) -> Result<()> {
    if workers == 1 { stay_on(0) } else { Ok(()) }
}

fn ends<const N: usize>(places: u64) -> ([Sender<u64>; N], [Receiver<u64>; N]) {
    let ends = [(); N].map(|()| bounded(places as usize));
    (ends.each_ref().map(|(tx, _)| tx.clone()), ends.map(|(_, rx)| rx))
}

/// Choices among 2, 8 and 64 receivers, one of which has a message.
pub fn select(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(BATCH);
        Ok(select::samples(batches * BATCH, [of_2(batches), of_8(batches), of_64(batches)]))
    }))
}

fn batches<const N: usize>(batches: u64, choose: impl Fn(&[Receiver<u64>; N])) -> Duration {
    let (txs, rxs) = ends::<N>(BATCH);
    let mut took = Duration::ZERO;
    for batch in 0..batches {
        (0..BATCH).for_each(|i| txs[batch as usize % N].try_send(i).expect("the buffer is empty"));
        let begun = Instant::now();
        choose(&rxs);
        took += begun.elapsed();
    }
    took
}

fn of_2(n: u64) -> Duration {
    batches(n, |[a, b]| {
        for i in 0..BATCH {
            let got = crossbeam_channel::select! { recv(a) -> got => got, recv(b) -> got => got };
            assert_eq!(got, Ok(i));
        }
    })
}

/// `select!` with eight branches.
macro_rules! select_of {
    ($($rx:ident)+) => {
        crossbeam_channel::select! { $(recv($rx) -> got => got,)+ }
    };
}

fn of_8(n: u64) -> Duration {
    batches(n, |[a, b, c, d, e, f, g, h]| {
        for i in 0..BATCH {
            assert_eq!(select_of!(a b c d e f g h), Ok(i));
        }
    })
}

/// `select!` does not take that many; a `Select` may be reused.
fn of_64(n: u64) -> Duration {
    batches::<64>(n, |rxs| {
        let mut select = Select::new();
        rxs.iter().for_each(|rx| _ = select.recv(rx));
        for i in 0..BATCH {
            let chosen = select.select();
            let rx = &rxs[chosen.index()];
            assert_eq!(chosen.recv(rx), Ok(i));
        }
    })
}

/// A choice among 8 that waits for another OS thread.
pub fn select_blocks(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(move |n| {
        let (txs, [a, b, c, d, e, f, g, h]) = ends::<8>(1);
        let (ack, acked) = bounded::<()>(1);
        let sender = thread::spawn(move || {
            for i in 0..n {
                acked.recv().expect(LIVES);
                txs[i as usize % 8].send(i).expect(LIVES);
            }
            // The last number is received before the channels end.
            acked.recv().expect(LIVES);
        });
        let begun = Instant::now();
        for i in 0..n {
            ack.send(()).expect(LIVES);
            assert_eq!(select_of!(a b c d e f g h), Ok(i));
        }
        let took = begun.elapsed();
        ack.send(()).expect(LIVES);
        sender.join().expect("sending does not panic");
        Ok(vec![Sample::ns_each("choice", took, n)])
    }))
}

/// A stream from another thread to this one, over the channel of `make`.
fn stream<S: Send + 'static, R: 'static>(
    workers: usize,
    make: fn() -> (S, R),
    send: fn(&S, u64),
    recv: fn(&R) -> u64,
) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(move |n| {
        let begun = Instant::now();
        let (tx, rx) = make();
        let producer = thread::spawn(move || (0..n).for_each(|i| send(&tx, i)));
        (0..n).for_each(|i| assert_eq!(recv(&rx), i));
        let took = begun.elapsed();
        producer.join().expect("sending does not panic");
        Ok(stream::samples(took, n))
    }))
}

/// With 64 places.
pub fn crossbeam_bounded(workers: usize) -> Result<Runner> {
    crossbeam(workers, || bounded(PLACES as usize))
}

/// Unbounded.
pub fn crossbeam_unbounded(workers: usize) -> Result<Runner> {
    crossbeam(workers, unbounded)
}

fn crossbeam(workers: usize, make: fn() -> (Sender<u64>, Receiver<u64>)) -> Result<Runner> {
    stream(workers, make, |tx, i| tx.send(i).expect(LIVES), |rx| rx.recv().expect(LIVES))
}

/// With 64 places.
pub fn flume_bounded(workers: usize) -> Result<Runner> {
    flume(workers, || flume::bounded(PLACES as usize))
}

/// Unbounded.
pub fn flume_unbounded(workers: usize) -> Result<Runner> {
    flume(workers, flume::unbounded)
}

fn flume(workers: usize, make: fn() -> (flume::Sender<u64>, flume::Receiver<u64>)) -> Result<Runner> {
    stream(workers, make, |tx, i| tx.send(i).expect(LIVES), |rx| rx.recv().expect(LIVES))
}

/// A channel with one place, from its creation to its end.
pub fn oneshot(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(move |n| {
        let begun = Instant::now();
        for i in 0..n {
            let (tx, rx) = bounded(1);
            tx.send(black_box(i)).expect("the receiver is here");
            assert_eq!(rx.recv(), Ok(i));
        }
        Ok(oneshot::samples(begun.elapsed(), n))
    }))
}
