//! The paper's `condvar` (*Compiler Support for Lightweight Context Switching*, 2013, 7.4 and, for the affinity, 6.3): a
//! bounded queue of a mutex and two condition variables.

use super::hosts::{Biased, Hosts, Switch};
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::{os_locks, tokio_locks};
use crate::work::condvar::{MANY, PLACES, rounded, samples, sum};
use crate::work::locking::Condvars;
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZE: Size = Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) };

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "condvar",
    about: "numbers go through a queue of 16 places, a mutex and two condition variables (paper: Fig. 7, condvar; no numbers in the \
            text); ns for each number: `pair` from one producer to one consumer, `many` from 4 producers to 4 consumers, from before \
            they are started. `tokio` has its mutex and two `Notify`, `tokio-std` the mutex of std",
    workers: &[1, 2],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("lamprey", runner::<Hosts>),
        Variant::ours("switch", runner::<Hosts<Switch>>),
        Variant::rival("pthread", runner::<os_locks::Pthread>),
        Variant::rival("std", runner::<os_locks::Std>),
        Variant::rival("parking_lot", runner::<os_locks::ParkingLot>),
        Variant::rival("tokio", tokio_locks::condvar),
        Variant::rival("tokio-std", tokio_locks::condvar_std),
        Variant::go(),
        Variant::boost(),
    ],
};

/// See `about`.
pub const AFFINITY: Bench = Bench {
    name: "condvar_affinity",
    about: "4 pairs of a producer and a consumer, each over a queue of its own as in condvar (paper, 6.3: condvar with affinity hints, \
            2.74 s, and 1.96 s with biased locks); ns for each number. `placed`: both of a pair on one worker, `placed-biased` with biased mutexes; `apart`: on different ones; \
            `lamprey` and the rivals: wherever",
    workers: &[1, 2],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("lamprey", |w| affinity::<Hosts>(w, |_, _| None)),
        Variant::ours("placed", |w| affinity::<Hosts>(w, |pair, _| Some(pair))),
        Variant::ours("placed-biased", |w| affinity::<Hosts<Biased>>(w, |pair, _| Some(pair))),
        Variant::ours("apart", |w| affinity::<Hosts>(w, |pair, half| Some(pair + half))),
        Variant::rival("pthread", |w| affinity::<os_locks::Pthread>(w, |_, _| None)),
        Variant::go(),
        Variant::boost(),
    ],
};

/// Aligned, so that no two share a cache line.
#[repr(align(128))]
struct Queue<T: Condvars> {
    numbers: T::Mutex<VecDeque<u64>>,
    not_full: T::Condvar,
    not_empty: T::Condvar,
    /// The sum that the consumers have received, after they have ended.
    received: T::Mutex<u64>,
}

impl<T: Condvars> Queue<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            numbers: T::mutex(VecDeque::with_capacity(PLACES)),
            not_full: T::condvar(),
            not_empty: T::condvar(),
            received: T::mutex(0),
        })
    }

    fn put(&self, number: u64) {
        let mut numbers = T::lock(&self.numbers);
        while numbers.len() == PLACES {
            numbers = T::wait(&self.not_full, numbers);
        }
        numbers.push_back(number);
        drop(numbers);
        T::notify_one(&self.not_empty);
    }

    fn take(&self) -> u64 {
        let mut numbers = T::lock(&self.numbers);
        let number = loop {
            match numbers.pop_front() {
                Some(number) => break number,
                None => numbers = T::wait(&self.not_empty, numbers),
            }
        };
        drop(numbers);
        T::notify_one(&self.not_full);
        number
    }

    /// A producer of `each` numbers and a consumer of the same amount.
    fn pair(self: &Arc<Self>, each: u64, [first, second]: [Option<usize>; 2]) -> [T::Handle; 2] {
        let (producer, consumer) = (self.clone(), self.clone());
        [
            T::spawn(first, move || (0..each).for_each(|i| producer.put(i))),
            T::spawn(second, move || {
                let sum: u64 = (0..each).map(|_| consumer.take()).sum();
                *T::lock(&consumer.received) += sum;
            }),
        ]
    }
}

fn runner<T: Condvars>(workers: usize) -> Result<Runner> {
    let stage = T::stage(workers)?;
    Ok(Box::new(move |n| {
        let n = rounded(n);
        let both = move || (through_one_queue::<T>(n, 1), through_one_queue::<T>(n, MANY));
        let (pair, many) = T::on(&stage, both);
        Ok(samples(n, pair, many))
    }))
}

fn through_one_queue<T: Condvars>(n: u64, producers: u64) -> Duration {
    let begun = Instant::now();
    let queue = Queue::<T>::new();
    let threads: Vec<_> = (0..producers).flat_map(|_| queue.pair(n / producers, [None; 2])).collect();
    threads.into_iter().for_each(T::join);
    let took = begun.elapsed();
    assert_eq!(*T::lock(&queue.received), sum(n / producers, producers));
    took
}

/// The worker, if it is fixed, of the first or second half of a pair; by half and number of the pair.
type Place = fn(usize, usize) -> Option<usize>;

fn affinity<T: Condvars>(workers: usize, place: Place) -> Result<Runner> {
    let stage = T::stage(workers)?;
    Ok(Box::new(move |n| {
        let n = rounded(n);
        let took = T::on(&stage, move || {
            let begun = Instant::now();
            let queues: Vec<_> = (0..MANY).map(|_| Queue::<T>::new()).collect();
            let start = |(pair, queue): (usize, &Arc<Queue<T>>)| {
                queue.pair(n / MANY, [0, 1].map(|half| place(pair, half).map(|worker| worker % workers)))
            };
            let threads: Vec<_> = queues.iter().enumerate().flat_map(start).collect();
            threads.into_iter().for_each(T::join);
            let took = begun.elapsed();
            let received: u64 = queues.iter().map(|queue| *T::lock(&queue.received)).sum();
            assert_eq!(received, sum(n / MANY, MANY));
            took
        });
        Ok(vec![Sample::ns_each("number", took, n)])
    }))
}
