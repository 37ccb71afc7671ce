//! Shared data that several threads change, by transactions.

use super::hosts::Hosts;
use super::locking::crowd;
use super::stm_ours::Stm;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::{os_locks, stm_crate};
use crate::work::locking::Threads;
use crate::work::stm::{ACCOUNTS, EACH, HOT, KEYS, Memory};
use crate::work::stm_locks::Locks;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "stm",
    about: "one thread on each worker, or each core, changes what is shared; ns for each operation of all (wall time over all operations): \
            `counter` adds 1 to one number; `disjoint` moves 1 between two of 1024 accounts of its own; `hot` moves 1 between \
            two of 8 accounts of all; `list` looks in a sorted list of about 32 numbers, and every fifth time changes it. `mutex`, \
            `std` and `parking_lot` have a lock for the number, for each account, and for the list",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(100) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", runner::<Stm>),
        Variant::ours("mutex", runner::<Locks<Hosts>>),
        Variant::rival("std", runner::<Locks<os_locks::Std>>),
        Variant::rival("parking_lot", runner::<Locks<os_locks::ParkingLot>>),
        Variant::rival("stm", runner::<stm_crate::Stm>),
        Variant::ghc(),
    ],
};

/// Random numbers: the same for each library.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize & (below - 1)
    }
}

/// A run: each thread does each operation `n` times.
fn runner<M: Memory>(workers: usize) -> Result<Runner> {
    let stage = M::On::stage(workers)?;
    Ok(Box::new(move |n| {
        let all = M::On::on(&stage, move || {
            [
                ("counter", count::<M>(workers, n)),
                ("disjoint", bank::<M>(workers, n, false)),
                ("hot", bank::<M>(workers, n, true)),
                ("list", list::<M>(workers, n)),
            ]
        });
        Ok(all.map(|(name, took)| Sample::ns_each(name, took, n * workers as u64)).into())
    }))
}

fn count<M: Memory>(workers: usize, n: u64) -> Duration {
    let counter = Arc::new(M::counter());
    let ours = counter.clone();
    let took = crowd::<M::On>(workers, workers, move |_| (0..n).for_each(|_| M::add(&ours)));
    assert_eq!(M::count(&counter), n * workers as u64);
    took
}

fn bank<M: Memory>(workers: usize, n: u64, is_hot: bool) -> Duration {
    let accounts = if is_hot { HOT } else { ACCOUNTS };
    let all = if is_hot { accounts } else { accounts * workers };
    let bank = Arc::new(M::bank(all));
    let ours = bank.clone();
    let took = crowd::<M::On>(workers, workers, move |me| {
        let first = if is_hot { 0 } else { me * accounts };
        let mut random = Random(me as u64);
        for _ in 0..n {
            let from = random.next(accounts);
            let to = (from + 1 + random.next(accounts / 2)) & (accounts - 1);
            M::transfer(&ours, first + from, first + to);
        }
    });
    assert_eq!(M::total(&bank), all as u64 * EACH);
    took
}

/// Of ten operations, eight look for a number, one adds one, and one takes one out.
fn list<M: Memory>(workers: usize, n: u64) -> Duration {
    let list = Arc::new(M::list());
    (0..KEYS).step_by(2).for_each(|key| assert!(M::insert(&list, key)));
    let ours = list.clone();
    let took = crowd::<M::On>(workers, workers, move |me| {
        let mut random = Random(me as u64);
        for i in 0..n {
            let key = random.next(KEYS as usize) as u64;
            let _ = match i % 10 {
                8 => M::insert(&ours, key),
                9 => M::remove(&ours, key),
                _ => M::contains(&ours, key),
            };
        }
    });
    assert!((0..KEYS).filter(|&key| M::contains(&list, key)).count() <= KEYS as usize);
    took
}
