//! Locks under load: nothing is lost, nobody starves.

mod common;

use common::run;
use lamprey::event::{Event, choose};
use lamprey::sync::{LockOptions, Mutex, Order, Wake};
use lamprey::{parasite, spawn, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn a_million_turns_of_eight_hosts_on_two_workers() {
    const HOSTS: usize = 8;
    const TURNS: usize = 1_000_000 / HOSTS;
    run(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let hosts: Vec<_> = (0..HOSTS)
            .map(|_| {
                let mutex = mutex.clone();
                spawn(move || {
                    for _ in 0..TURNS {
                        *mutex.lock().unwrap() += 1;
                    }
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*mutex.lock().unwrap(), HOSTS * TURNS);
    });
}

/// One that waits gets the lock although others take it all the time.
#[test]
fn one_who_waits_does_not_starve() {
    const GREEDY: u64 = 3;
    for workers in [1, 2] {
        run(workers, move || {
            let (mutex, stop) = (Arc::new(Mutex::new(0u64)), Arc::new(AtomicBool::new(false)));
            let taken = Arc::new(AtomicU64::new(0));
            let greedy: Vec<_> = (0..GREEDY)
                .map(|_| {
                    let (mutex, stop, taken) = (mutex.clone(), stop.clone(), taken.clone());
                    spawn(move || {
                        while !stop.load(Ordering::Relaxed) {
                            let mut guard = mutex.lock().unwrap();
                            taken.fetch_add(1, Ordering::Relaxed);
                            yield_now(); // others come meanwhile
                            *guard += 1;
                        }
                    })
                })
                .collect();
            let (mut turns, mut longest) = (0, 0);
            while turns < 100 || longest == 0 {
                turns += 1;
                let before = taken.load(Ordering::Relaxed);
                *mutex.lock().unwrap() += 1;
                longest = longest.max(taken.load(Ordering::Relaxed) - before);
                yield_now();
            }
            // Those ahead of it in the line, and itself, are each overtaken by one holder that comes again at
            // once; then they are handed the lock. On two workers there may be many such holders while the
            // kernel does not run the worker of the one that has been woken.
            let bound = if workers == 1 { 2 * (GREEDY - 1) + 1 } else { u64::MAX };
            assert!(longest <= bound, "others had it {longest} times meanwhile");
            stop.store(true, Ordering::Relaxed);
            greedy.into_iter().for_each(|host| host.join().unwrap());
        });
    }
}

/// All ways to take two locks, and to give up, at once.
#[test]
fn every_way_to_lock_and_to_give_up() {
    const TURNS: usize = 400;
    let options = LockOptions::new();
    for options in [options, options.wake(Wake::Switch), options.order(Order::Lifo), options.biased(true)] {
        run(2, move || {
            let locks = Arc::new([Mutex::with_options(0usize, options), Mutex::with_options(0, options)]);
            let mut hosts = Vec::new();
            for kind in 0..6 {
                let locks = locks.clone();
                hosts.push(spawn(move || (0..TURNS).map(|turn| one(kind, turn, &locks)).sum::<usize>()));
            }
            let parasites: Vec<_> = (0..2)
                .map(|n| {
                    let locks = locks.clone();
                    parasite(async move {
                        for _ in 0..TURNS {
                            *locks[n].lock_async().await.unwrap() += 1;
                            lamprey::yield_now_async().await;
                        }
                        TURNS
                    })
                })
                .collect();
            let mut total: usize = hosts.into_iter().map(|host| host.join().unwrap()).sum();
            total += parasites.into_iter().map(|parasite| parasite.join().unwrap()).sum::<usize>();
            let counted: usize = locks.iter().map(|lock| *lock.try_lock().expect("it was left locked")).sum();
            assert_eq!(total, counted, "{options:?}");
        });
    }
}

/// How often it has added one.
fn one(kind: usize, turn: usize, locks: &[Mutex<usize>; 2]) -> usize {
    let [a, b] = locks;
    match kind {
        0 | 1 => {
            let mut guard = locks[kind].lock().unwrap();
            if turn.is_multiple_of(3) {
                yield_now();
            }
            *guard += 1;
            1
        }
        2 => a.lock_timeout(Duration::from_micros(turn as u64 % 50)).map_or(0, |mut guard| {
            *guard += 1;
            1
        }),
        3 => {
            *choose([a.lock_evt(), b.lock_evt()]).sync().unwrap() += 1;
            1
        }
        4 => choose([b.lock_evt(), a.lock_evt()])
            .sync_timeout(Duration::from_micros(turn as u64 % 50))
            .map_or(0, |guard| {
                *guard.unwrap() += 1;
                1
            }),
        _ => {
            yield_now();
            b.try_lock().map_or(0, |mut guard| {
                *guard += 1;
                1
            })
        }
    }
}
