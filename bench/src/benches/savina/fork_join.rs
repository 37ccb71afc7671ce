//! Threads that are started and joined, and threads that are sent messages and joined.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::fork_join::{
    CREATE as CREATE_WORK, CREATED, PLACES, RECEIVERS, THROUGHPUT as SEND_WORK,
};
use lamprey::bounded;

/// See `about`.
pub const CREATE: Bench = bench(
    "savina_fork_join_create",
    "40,000 threads are started, each of which returns a number, and then joined; ns for each",
    CREATED,
    &[
        Variant::ours("hosts", |w| runner(w, &CREATE_WORK, |n| batches(n, hosts))),
        Variant::ours("parasites", |w| runner(w, &CREATE_WORK, |n| batches(n, parasites))),
        Variant::ours("stackful", |w| runner(w, &CREATE_WORK, |n| batches(n, stackful))),
        Variant::rival("tokio", tokio_savina::fork_join::create),
        Variant::go(),
    ],
);

/// See `about`.
pub const THROUGHPUT: Bench = bench(
    "savina_fork_join_throughput",
    "a thread sends numbers to 60 others in turn, over a channel with 64 places for each; they add them up, and are joined; ns for each \
     number",
    6000,
    &[
        Variant::ours("lamprey", |w| runner(w, &SEND_WORK, throughput)),
        Variant::rival("tokio", tokio_savina::fork_join::throughput),
        Variant::go(),
    ],
);

const RETURNS: &str = "returning does not panic";

fn batches(threads: u64, batch: fn() -> u64) -> u64 {
    (0..threads / CREATED).map(|_| batch()).sum()
}

fn hosts() -> u64 {
    let threads: Vec<_> = (0..CREATED).map(|i| lamprey::spawn(move || i)).collect();
    threads.into_iter().map(|thread| thread.join().expect(RETURNS)).sum()
}

fn parasites() -> u64 {
    let threads: Vec<_> = (0..CREATED).map(|i| lamprey::parasite(async move { i })).collect();
    threads.into_iter().map(|thread| thread.join().expect(RETURNS)).sum()
}

fn stackful() -> u64 {
    let threads: Vec<_> = (0..CREATED).map(|i| lamprey::parasite_fn(move || i)).collect();
    threads.into_iter().map(|thread| thread.join().expect(RETURNS)).sum()
}

fn throughput(messages: u64) -> u64 {
    let receiver = |_| {
        let (tx, rx) = bounded(PLACES);
        (tx, lamprey::spawn(move || rx.iter().sum::<u64>()))
    };
    let (queues, receivers): (Vec<_>, Vec<_>) = (0..RECEIVERS).map(receiver).unzip();
    for number in 0..messages / RECEIVERS {
        for queue in &queues {
            queue.send(number).expect("the receivers take all");
        }
    }
    drop(queues);
    receivers.into_iter().map(|receiver| receiver.join().expect("adding does not panic")).sum()
}
