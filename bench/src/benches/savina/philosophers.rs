//! The dining philosophers.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::philosophers::{SEATS, WORK, each, forks};
use lamprey::sync::Mutex;
use std::sync::Arc;

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_philosophers",
    "20 philosophers at a round table each eat again and again, with the mutexes of the forks to the left and to the right, of which \
     they lock that with the smaller number first; ns for each meal",
    2000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, hosts)),
        Variant::ours("parasites", |w| runner(w, &WORK, parasites)),
        Variant::rival("tokio", tokio_savina::philosophers::tokio),
        Variant::go(),
    ],
);

fn hosts(meals: u64) -> u64 {
    let table: Arc<[Mutex<u64>]> = (0..SEATS).map(|_| Mutex::new(0)).collect();
    let philosopher = |seat| {
        let table = table.clone();
        lamprey::spawn(move || {
            let (first, second) = forks(seat);
            for _ in 0..each(meals) {
                let mut first = table[first].lock().expect("nobody panics");
                let mut second = table[second].lock().expect("nobody panics");
                *first += 1;
                *second += 1;
            }
        })
    };
    let philosophers: Vec<_> = (0..SEATS).map(philosopher).collect();
    philosophers.into_iter().for_each(|philosopher| philosopher.join().expect("nobody panics"));
    table.iter().map(|fork| *fork.lock().expect("nobody panics")).sum()
}

fn parasites(meals: u64) -> u64 {
    let table: Arc<[Mutex<u64>]> = (0..SEATS).map(|_| Mutex::new(0)).collect();
    let philosopher = |seat| {
        let table = table.clone();
        lamprey::parasite(async move {
            let (first, second) = forks(seat);
            for _ in 0..each(meals) {
                let mut first = table[first].lock_async().await.expect("nobody panics");
                let mut second = table[second].lock_async().await.expect("nobody panics");
                *first += 1;
                *second += 1;
            }
        })
    };
    let philosophers: Vec<_> = (0..SEATS).map(philosopher).collect();
    philosophers.into_iter().for_each(|philosopher| philosopher.join().expect("nobody panics"));
    table.iter().map(|fork| *fork.lock().expect("nobody panics")).sum()
}
