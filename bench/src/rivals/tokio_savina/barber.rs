//! The sleeping barber.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::barber::{CHAIRS, CUSTOMERS, WORK};
use ::tokio::sync::mpsc::error::TrySendError;
use ::tokio::sync::{mpsc, oneshot};
use ::tokio::task::{JoinSet, yield_now};
use anyhow::Result;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, days)
}

async fn days(customers: u64) -> u64 {
    let mut haircuts = 0;
    for _ in 0..customers / CUSTOMERS {
        haircuts += day().await;
    }
    haircuts
}

async fn day() -> u64 {
    let (room, mut waiting) = mpsc::channel::<oneshot::Sender<u64>>(CHAIRS);
    let barber = ::tokio::spawn(async move {
        let mut haircut = 0;
        while let Some(customer) = waiting.recv().await {
            customer.send(haircut).expect("the customer waits");
            haircut += 1;
        }
    });
    let mut customers = JoinSet::new();
    for _ in 0..CUSTOMERS {
        let room = room.clone();
        customers.spawn(async move {
            let (mut ticket, done) = oneshot::channel();
            while let Err(full) = room.try_send(ticket) {
                let TrySendError::Full(back) = full else { panic!("the barber stays") };
                ticket = back;
                yield_now().await;
            }
            done.await.expect("the barber cuts the hair of all")
        });
    }
    drop(room);
    let haircuts = customers.join_all().await.into_iter().sum();
    barber.await.expect("the barber does not panic");
    haircuts
}
