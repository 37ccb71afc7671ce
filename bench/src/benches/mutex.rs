//! Many threads add to one number under one mutex.

use super::hosts::{Biased, Hosts, Lifo, Switch};
use super::locking::crowd;
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{os_locks, tokio_locks};
use crate::work::locking::Threads;
use crate::work::mutex::{THREADS, rounded, samples};
use anyhow::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "mutex",
    about: "lock, add 1, unlock, in a loop; ns for each time: `alone` by one thread; `contended` by 8 at a time on one mutex, half of \
            them on each of two workers, from when all are let go until the last is done (wall time over all additions). `pthread`, \
            `std` and `parking_lot` have OS threads, for one worker on one core",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", runner::<Hosts>),
        Variant::ours("lifo", runner::<Hosts<Lifo>>),
        Variant::ours("switch", runner::<Hosts<Switch>>),
        Variant::ours("biased", runner::<Hosts<Biased>>),
        Variant::rival("pthread", runner::<os_locks::Pthread>),
        Variant::rival("std", runner::<os_locks::Std>),
        Variant::rival("parking_lot", runner::<os_locks::ParkingLot>),
        Variant::rival("tokio", tokio_locks::mutex),
        Variant::go(),
        Variant::boost(),
    ],
};

fn runner<T: Threads>(workers: usize) -> Result<Runner> {
    let stage = T::stage(workers)?;
    Ok(Box::new(move |n| {
        let n = rounded(n);
        let (alone, contended) = T::on(&stage, move || (alone::<T>(n), contended::<T>(n, workers)));
        Ok(samples(n, alone, contended))
    }))
}

fn alone<T: Threads>(n: u64) -> Duration {
    let number = T::mutex(0);
    let begun = Instant::now();
    add::<T>(&number, n);
    let took = begun.elapsed();
    assert_eq!(*T::lock(&number), n);
    took
}

fn contended<T: Threads>(n: u64, workers: usize) -> Duration {
    let number = Arc::new(T::mutex(0));
    let shared = number.clone();
    let took = crowd::<T>(THREADS, workers, move |_| add::<T>(&shared, n / THREADS as u64));
    assert_eq!(*T::lock(&number), n);
    took
}

fn add<T: Threads>(number: &T::Mutex<u64>, times: u64) {
    for _ in 0..times {
        *T::lock(number) += 1;
    }
}
