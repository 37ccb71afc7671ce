//! A worker answers in pieces: threads run, start and end between them, and those that stay are found once.

use crate::common::run;
use lamprey::inspect::{dump, stacks, threads};
use lamprey::{Builder, JoinHandle, Receiver, channel, parasite, spawn, yield_now};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Hosts of this name that wait for the end of the sender.
fn waiting_hosts(name: &str, count: usize, rx: &Receiver<()>) -> Vec<JoinHandle<()>> {
    let hosts = (0..count).map(|_| {
        let rx = rx.clone();
        Builder::new().name(name).spawn(move || assert!(rx.recv().is_err())).unwrap()
    });
    let hosts: Vec<_> = hosts.collect();
    while threads().iter().filter(|row| row.thread().name() == Some(name)).count() < count {
        yield_now();
    }
    hosts
}

/// Starts and ends hosts and parasites, old ones and new ones, until it is told to stop; counts its turns.
fn churn(stop: &AtomicBool, turns: &AtomicUsize) {
    let mut old = std::collections::VecDeque::new();
    while !stop.load(Ordering::Relaxed) {
        turns.fetch_add(1, Ordering::Relaxed);
        for _ in 0..4 {
            let (tx, rx) = channel::<()>();
            let theirs = rx.clone();
            let host = spawn(move || assert!(theirs.recv().is_err()));
            old.push_back((tx, host, parasite(async move { assert!(rx.recv_async().await.is_err()) })));
        }
        yield_now();
        if old.len() > 400 {
            for _ in 0..4 {
                // The oldest, the newest, and some in between.
                let place = turns.load(Ordering::Relaxed) * 97 % old.len();
                let (tx, host, parasite) = old.remove(place).unwrap();
                drop(tx);
                host.join().unwrap();
                parasite.join().unwrap();
            }
        }
    }
}

/// Looks some times, while others start and end on the same workers.
fn beside_churn(workers: usize, name: &'static str, hosts: usize, look: impl Fn() + Send + 'static) {
    run(workers, move || {
        let (tx, rx) = channel::<()>();
        let waiting = waiting_hosts(name, hosts, &rx);
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stops, counts) = (stop.clone(), turns.clone());
        let others = spawn(move || churn(&stops, &counts));
        let mut most = 0;
        for _ in 0..10 {
            let before = turns.load(Ordering::Relaxed);
            look();
            most = most.max(turns.load(Ordering::Relaxed) - before);
        }
        assert!(most > 3, "the others had {most} turns while one looked");
        stop.store(true, Ordering::Relaxed);
        others.join().unwrap();
        drop(tx);
        waiting.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn rows_of_threads_that_stay() {
    const NAME: &str = "has a row";
    for workers in [1, 2] {
        beside_churn(workers, NAME, 2000, || {
            let rows = threads();
            let ids =
                rows.iter().filter(|row| row.thread().name() == Some(NAME)).map(|row| row.thread().id());
            let ids: Vec<_> = ids.collect();
            let unique: HashSet<_> = ids.iter().collect();
            assert_eq!((unique.len(), ids.len()), (2000, 2000));
        });
    }
}

#[test]
fn a_dump_with_stacks() {
    beside_churn(1, "is dumped", 200, || {
        let dump = dump();
        assert!(dump.threads() >= 200 && dump.to_string().contains("`is dumped`"), "{dump}");
    });
}

#[test]
fn stacks_of_threads_that_stay() {
    const SIZE: usize = 48 << 10;
    run(1, || {
        let (tx, rx) = channel::<()>();
        let waiting = [(); 1000].map(|()| {
            let rx = rx.clone();
            Builder::new().stack_size(SIZE).spawn(move || assert!(rx.recv().is_err())).unwrap()
        });
        // A host has a stack from when it starts.
        let started = || {
            stacks().rows().iter().filter(|row| row.asked() == SIZE).map(|row| row.threads()).sum::<usize>()
        };
        while started() < 1000 {
            yield_now();
        }
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stops, counts) = (stop.clone(), turns.clone());
        let others = spawn(move || churn(&stops, &counts));
        for _ in 0..10 {
            assert_eq!(started(), 1000, "{}", stacks());
        }
        stop.store(true, Ordering::Relaxed);
        others.join().unwrap();
        drop(tx);
        waiting.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn parasites_that_stay() {
    run(1, || {
        const MANY: usize = 100_000;
        async fn stays(rx: Receiver<()>) {
            assert!(rx.recv_async().await.is_err());
        }
        let (tx, rx) = channel::<()>();
        let waiting: Vec<_> = (0..MANY).map(|_| parasite(stays(rx.clone()))).collect();
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stops, counts) = (stop.clone(), turns.clone());
        let others = spawn(move || churn(&stops, &counts));
        for _ in 0..20 {
            let rows = threads();
            let found =
                rows.iter().filter(|row| row.thread().name().is_some_and(|name| name.contains("stays")));
            assert_eq!(found.map(|row| row.count()).sum::<usize>(), MANY);
        }
        stop.store(true, Ordering::Relaxed);
        others.join().unwrap();
        drop((tx, rx));
        waiting.into_iter().for_each(|one| one.join().unwrap());
    });
}
