//! Two runs by one seed are the same, on whatever kernel thread, whatever ran there before.

use lamprey::event::{Event, choose, timeout};
use lamprey::sim::Machine;
use lamprey::sync::Mutex;
use lamprey::{Handle, Runtime, bounded, channel, parasite, parasite_fn, sleep, spawn, with_timeout};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_micros(66);

/// A bit of everything.
fn program() {
    let (tx, rx) = channel();
    let (full, emptied) = bounded(1);
    let shared = Arc::new(Mutex::new(0));
    for number in 0..3 {
        let (tx, full, shared) = (tx.clone(), full.clone(), shared.clone());
        let host = spawn(move || {
            let _ = tx.send(number);
            let _ = full.send_timeout(number, SOON);
            *shared.lock().unwrap() += 1;
            lamprey::block(|| ())
        });
        if number == 2 {
            host.cancel();
        }
    }
    let theirs = tx.clone();
    parasite(async move {
        let _ = lamprey::with_timeout_async(SOON, theirs.send_async(10)).await;
        lamprey::block_async(|| ()).await;
    })
    .detach();
    parasite_fn(move || {
        let _ = with_timeout(SOON, || tx.send(20));
    })
    .detach();
    for _ in 0..4 {
        choose((rx.recv_evt().wrap(drop), emptied.recv_evt().wrap(drop), timeout(SOON).wrap(drop))).sync();
    }
    let there = Machine::new("there").spawn(|| Handle::current().unwrap()).join().unwrap();
    let elsewhere: Vec<_> = (0..3)
        .map(|number| {
            there.parasite(async move {
                lamprey::sleep_async(SOON * number).await;
            })
        })
        .collect();
    for one in elsewhere {
        let _ = one.join();
    }
    sleep(SOON);
}

fn log(seed: u64) -> String {
    Runtime::simulated(seed).run_logged(program).1
}

#[test]
fn thousands_of_runs_are_the_same_twice() {
    let runs = std::env::var("LAMPREY_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(2000);
    let logs: Vec<_> = (0..runs).map(log).collect();
    std::thread::scope(|threads| {
        for half in [0, 1] {
            let logs = &logs;
            // Backwards, so that each run comes after another one than before.
            threads.spawn(move || {
                for seed in (0..runs).rev().filter(|seed| seed % 2 == half) {
                    assert!(logs[seed as usize] == log(seed), "seed {seed} differs");
                }
            });
        }
    });
    let mut different = logs;
    different.sort_unstable();
    different.dedup();
    assert!(different.len() as u64 > runs / 2, "{} of {runs} differ", different.len());
}
