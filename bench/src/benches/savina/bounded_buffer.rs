//! Producers and consumers about one buffer.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::bounded_buffer::{CONSUMERS, PLACES, PRODUCERS, WORK};

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_bounded_buffer",
    "40 producers put numbers into a buffer of 50 places, from which 40 consumers take and add them; ns for each number. `tokio` \
     has its own mpsc channel, whose receiver is in a mutex; `tokio-async-channel` a channel that many may receive from",
    4000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, hosts)),
        Variant::ours("parasites", |w| runner(w, &WORK, parasites)),
        Variant::rival("tokio", tokio_savina::bounded_buffer::tokio),
        Variant::rival("tokio-async-channel", tokio_savina::bounded_buffer::async_channel),
        Variant::go(),
    ],
);

fn hosts(items: u64) -> u64 {
    let (tx, rx) = lamprey::bounded(PLACES);
    for _ in 0..PRODUCERS {
        let tx = tx.clone();
        lamprey::spawn(move || {
            for item in 0..items / PRODUCERS {
                tx.send(item).expect("the consumers take all");
            }
        });
    }
    drop(tx);
    let consumer = |_| {
        let rx = rx.clone();
        lamprey::spawn(move || rx.iter().sum::<u64>())
    };
    let consumers: Vec<_> = (0..CONSUMERS).map(consumer).collect();
    consumers.into_iter().map(|consumer| consumer.join().expect("adding does not panic")).sum()
}

fn parasites(items: u64) -> u64 {
    let (tx, rx) = lamprey::bounded(PLACES);
    for _ in 0..PRODUCERS {
        let tx = tx.clone();
        let producer = async move {
            for item in 0..items / PRODUCERS {
                tx.send_async(item).await.expect("the consumers take all");
            }
        };
        lamprey::parasite(producer).detach();
    }
    drop(tx);
    let consumer = |_| {
        let rx = rx.clone();
        lamprey::parasite(async move {
            let mut sum = 0;
            while let Ok(item) = rx.recv_async().await {
                sum += item;
            }
            sum
        })
    };
    let consumers: Vec<_> = (0..CONSUMERS).map(consumer).collect();
    consumers.into_iter().map(|consumer| consumer.join().expect("adding does not panic")).sum()
}
