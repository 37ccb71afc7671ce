//! Where hosts run: placed, spread, stolen, and never moved once they have started.

use crate::common::{FOREVER, count, counter, run, runtime, tick};
use lamprey::{Builder, current, sleep, spawn, yield_now};
use std::collections::HashMap;
use std::time::{Duration, Instant};

fn here() -> usize {
    current().worker().unwrap()
}

#[test]
fn a_placed_host_starts_where_it_was_placed_and_stays() {
    run(4, || {
        let hosts: Vec<_> = (0..200)
            .map(|n| {
                Builder::new().worker(n % 4).spawn(move || {
                    for _ in 0..20 {
                        assert_eq!(here(), n % 4);
                        yield_now();
                        sleep(Duration::from_micros(20));
                    }
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.unwrap().join().unwrap());
    });
}

#[test]
fn placed_from_an_os_thread_too() {
    let runtime = runtime(3);
    for worker in [2, 0, 1, 2] {
        let host = Builder::new().worker(worker).spawn_in(&runtime.handle(), here).unwrap();
        assert_eq!(host.join().unwrap(), worker);
    }
}

#[test]
fn spread_hosts_take_the_workers_in_turn() {
    run(4, || {
        let hosts: Vec<_> = (0..40).map(|_| Builder::new().spread().spawn(here).unwrap()).collect();
        let mut places = HashMap::new();
        for host in hosts {
            *places.entry(host.join().unwrap()).or_insert(0) += 1;
        }
        assert_eq!(places, HashMap::from([(0, 10), (1, 10), (2, 10), (3, 10)]));
    });
}

#[test]
fn a_host_that_waits_behind_a_long_computation_is_stolen() {
    run(2, || {
        let deadline = Instant::now() + FOREVER;
        let ran = counter();
        let theirs = ran.clone();
        let from = here();
        let other = spawn(move || {
            tick(&theirs);
            here()
        });
        // Without a scheduling point: only a thief can run it.
        while count(&ran) == 0 {
            assert!(Instant::now() < deadline, "nobody stole it");
            std::hint::spin_loop();
        }
        assert_ne!(other.join().unwrap(), from);
    });
}

#[test]
fn a_placed_host_is_not_stolen() {
    run(2, || {
        let from = here();
        let ran = counter();
        let theirs = ran.clone();
        let placed = Builder::new().worker(from).spawn(move || {
            tick(&theirs);
            here()
        });
        let until = Instant::now() + Duration::from_millis(20);
        while Instant::now() < until {
            assert_eq!(count(&ran), 0, "it ran although its worker was busy");
        }
        assert_eq!(placed.unwrap().join().unwrap(), from);
    });
}

#[test]
fn long_computations_spread_over_both_workers() {
    run(2, || {
        let deadline = Instant::now() + FOREVER;
        loop {
            let hosts: Vec<_> = (0..32)
                .map(|_| {
                    spawn(|| {
                        let until = Instant::now() + Duration::from_millis(1);
                        while Instant::now() < until {
                            std::hint::spin_loop();
                        }
                        here()
                    })
                })
                .collect();
            let places: Vec<_> = hosts.into_iter().map(|host| host.join().unwrap()).collect();
            if places.contains(&0) && places.contains(&1) {
                return;
            }
            assert!(Instant::now() < deadline, "all stayed on one worker");
        }
    });
}

#[test]
fn a_pair_that_talks_stays_on_one_worker() {
    run(2, || {
        let (tx, rx) = lamprey::channel();
        let from = here();
        let host = spawn(move || {
            let at = here();
            assert!((0..10_000).all(|n| rx.recv() == Ok(n) && here() == at));
        });
        (0..10_000).for_each(|n| tx.send(n).unwrap());
        assert_eq!(here(), from);
        host.join().unwrap();
    });
}

/// It computes while its spawner sleeps: on another worker, or the sleep would last as long as it.
#[test]
fn a_host_that_computes_starts_where_it_holds_nobody_up() {
    run(2, || {
        // The other worker has to lie idle first, and on a loaded machine may not have come to it.
        let deadline = Instant::now() + FOREVER;
        for () in std::iter::repeat_n((), 5) {
            while !sleeps_beside_a_computation() {
                assert!(Instant::now() < deadline, "it always held its spawner up");
            }
        }
    });
}

fn sleeps_beside_a_computation() -> bool {
    sleep(Duration::from_millis(5));
    let (is_over, begun) = (counter(), counter());
    let (theirs, begins) = (is_over.clone(), begun.clone());
    let computes = spawn(move || {
        tick(&begins);
        let until = Instant::now() + Duration::from_millis(500);
        while count(&theirs) == 0 && Instant::now() < until {
            std::hint::spin_loop();
        }
        (here(), count(&theirs) != 0)
    });
    // If it is held up, it wakes when the other has ended.
    while count(&begun) == 0 {
        sleep(Duration::from_millis(1));
    }
    tick(&is_over);
    let (place, was_told) = computes.join().unwrap();
    assert!(!was_told || place != here(), "two at a time on one worker");
    was_told
}

/// As the connections of a server: one after the other, each started by a host that waits for the next.
#[test]
fn hosts_that_live_long_are_spread() {
    for workers in [2, 3] {
        run(workers, move || {
            // A worker that the system holds up takes none, and others take from it.
            let deadline = Instant::now() + FOREVER;
            while !are_spread(workers) {
                assert!(Instant::now() < deadline, "they always piled up");
            }
        });
    }
}

fn are_spread(workers: usize) -> bool {
    const MANY: usize = 100;
    let (tx, rx) = lamprey::channel::<()>();
    let mut hosts = Vec::new();
    let places = counter_of_places(workers);
    for _ in 0..MANY {
        let (rx, places) = (rx.clone(), places.clone());
        let begun = counter();
        let theirs = begun.clone();
        hosts.push(spawn(move || {
            tick(&places[here()]);
            tick(&theirs);
            rx.recv().unwrap_err();
        }));
        crate::common::yield_until("its start", || count(&begun) == 1);
    }
    drop(tx);
    hosts.into_iter().for_each(|host| host.join().unwrap());
    let fair = MANY / workers;
    places.iter().all(|place| count(place).abs_diff(fair) <= fair / 5 + workers)
}

fn counter_of_places(workers: usize) -> std::sync::Arc<Vec<std::sync::Arc<std::sync::atomic::AtomicUsize>>> {
    std::sync::Arc::new((0..workers).map(|_| counter()).collect())
}
