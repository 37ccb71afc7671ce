//! Threads, locks and time under a seed.

use lamprey::sim::{Machine, Schedule};
use lamprey::sync::Mutex;
use lamprey::{Runtime, channel};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Four hosts that send to one, with sleeps between.
fn program() -> Vec<u32> {
    let (tx, rx) = channel();
    for number in 0..4 {
        let tx = tx.clone();
        lamprey::spawn(move || {
            for step in 0..3 {
                tx.send(number * 10 + step).unwrap();
                lamprey::sleep(Duration::from_millis(u64::from(number)));
            }
        });
    }
    drop(tx);
    rx.iter().collect()
}

#[test]
fn one_seed_is_one_run() {
    let all: HashSet<_> = (0..50)
        .map(|seed| {
            let (order, log) = Runtime::simulated(seed).run_logged(program);
            assert_eq!((order.clone(), log), Runtime::simulated(seed).run_logged(program), "seed {seed}");
            order
        })
        .collect();
    assert!(all.len() > 20, "{} orders", all.len());
}

#[test]
fn each_schedule_runs_all_threads() {
    for schedule in [Schedule::Random, Schedule::Pct { depth: 3 }, Schedule::RoundRobin, Schedule::Mixed] {
        for seed in 0..20 {
            let mut order = Runtime::simulated(seed).schedule(schedule).run(program);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]);
        }
    }
}

#[test]
fn the_clock_jumps() {
    let start = std::time::Instant::now();
    let slept = Runtime::simulated(1).run(|| {
        let begin = lamprey::sim::now();
        lamprey::sleep(Duration::from_secs(100_000));
        lamprey::sim::now() - begin
    });
    assert!(slept >= Duration::from_secs(100_000) && slept < Duration::from_secs(100_001), "{slept:?}");
    assert!(start.elapsed() < Duration::from_secs(50_000));
}

#[test]
fn two_that_read_and_then_write_lose_an_update_in_some_runs() {
    let lost = |schedule| {
        (0..100).filter(move |seed| {
            let count = Arc::new(AtomicU32::new(0));
            let theirs = count.clone();
            Runtime::simulated(*seed).schedule(schedule).run(move || {
                let lock = Arc::new(Mutex::new(()));
                let hosts = [0, 1].map(|_| {
                    let (count, lock) = (theirs.clone(), lock.clone());
                    lamprey::spawn(move || {
                        let before = count.load(Ordering::Relaxed);
                        drop(lock.lock());
                        count.store(before + 1, Ordering::Relaxed);
                    })
                });
                hosts.into_iter().for_each(|host| host.join().unwrap());
            });
            count.load(Ordering::Relaxed) == 1
        })
    };
    for schedule in [Schedule::Random, Schedule::Pct { depth: 2 }] {
        let lost = lost(schedule).count();
        assert!((1..100).contains(&lost), "{lost} of 100 with {schedule:?}");
    }
}

#[test]
fn the_receiver_may_run_before_its_sender_goes_on() {
    let seen: HashSet<bool> = (0..50)
        .map(|seed| {
            Runtime::simulated(seed).workers(1).run(|| {
                let (tx, rx) = channel();
                let flag = Arc::new(AtomicU32::new(0));
                let theirs = flag.clone();
                let host = lamprey::spawn(move || {
                    rx.recv().unwrap();
                    theirs.load(Ordering::Relaxed) == 1
                });
                lamprey::sleep(Duration::from_millis(1));
                tx.send(()).unwrap();
                flag.store(1, Ordering::Relaxed);
                host.join().unwrap()
            })
        })
        .collect();
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_deadlock_is_named() {
    let failed = std::panic::catch_unwind(|| {
        Runtime::simulated(3).run(|| {
            let (tx, rx) = channel::<()>();
            let (back, there) = channel::<()>();
            let host = lamprey::Builder::new().name("the other").spawn(move || {
                let _keep = tx;
                there.recv()
            });
            let _keep = back;
            let _ = rx.recv();
            drop(host);
        });
    });
    let text = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("deadlock") && text.contains("`the other`") && text.contains("receive"), "{text}");
}

#[test]
fn panics_end_the_run() {
    for joined in [true, false] {
        let failed = std::panic::catch_unwind(|| {
            Runtime::simulated(3).run(move || {
                let host = lamprey::spawn(|| panic!("on purpose"));
                if joined {
                    host.join().unwrap_err();
                    panic!("on purpose");
                }
                drop(host);
                lamprey::sleep(Duration::MAX);
            });
        });
        assert_eq!(failed.unwrap_err().downcast_ref(), Some(&"on purpose"));
    }
}

#[test]
fn destructors_run_at_the_end() {
    struct Counts(Arc<AtomicU32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            lamprey::shield(|| lamprey::sleep(Duration::from_secs(1)));
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicU32::new(0));
    let theirs = dropped.clone();
    Runtime::simulated(0).run(move || {
        for _ in 0..10 {
            let counts = Counts(theirs.clone());
            lamprey::spawn(move || {
                let _counts = counts;
                lamprey::sleep(Duration::MAX);
            });
        }
        lamprey::sleep(Duration::from_millis(1));
    });
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}

#[test]
fn machines_crash_and_start_again() {
    Runtime::simulated(5).run(|| {
        let there = Machine::new("there");
        assert!(there.is_up());
        let (tx, rx) = channel();
        let host = there.spawn(move || {
            tx.send(lamprey::current().worker()).unwrap();
            lamprey::sleep(Duration::MAX);
        });
        assert!(rx.recv().unwrap().is_some());
        there.crash();
        assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled(_))));
        assert!(rx.recv().is_err());
        there.restart();
        assert!(there.is_up());
        assert_eq!(there.spawn(|| 7).join().unwrap(), 7);
    });
}

#[test]
fn what_blocks_runs_in_the_simulation() {
    Runtime::simulated(5).run(|| {
        thread_local!(static HERE: Cell<u32> = const { Cell::new(0) });
        HERE.set(1);
        let before = lamprey::sim::now();
        assert_eq!(lamprey::block(|| HERE.get()), 1);
        assert!(lamprey::sim::now() > before);
        assert_eq!(lamprey::wait(lamprey::block_async(|| HERE.get())), 1);
    });
}

#[test]
fn parasites_and_futures_run_in_it() {
    for seed in 0..50 {
        let sum = Runtime::simulated(seed).run(|| {
            let (tx, rx) = channel();
            let parasites: Vec<_> = (0..5_u32)
                .map(|number| {
                    let tx = tx.clone();
                    lamprey::parasite(async move {
                        lamprey::sleep_async(Duration::from_millis(5 - u64::from(number))).await;
                        tx.send_async(number).await.unwrap();
                    })
                })
                .collect();
            let stackful = lamprey::parasite_fn(move || tx.send(10).unwrap());
            let sum: u32 = rx.iter().sum();
            parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
            stackful.join().unwrap();
            sum
        });
        assert_eq!(sum, 20, "seed {seed}");
    }
}

#[test]
fn kernel_threads_outside_are_waited_for_though_they_are_not_simulated() {
    let sum = Runtime::simulated(1).run(|| {
        let (tx, rx) = channel();
        let outside = std::thread::spawn(move || (0..10).for_each(|number| tx.send(number).unwrap()));
        let sum = rx.iter().sum::<u32>();
        outside.join().unwrap();
        sum
    });
    assert_eq!(sum, 45);
}

#[test]
fn calls_on_the_pool_may_wait_for_threads_of_the_simulation() {
    for seed in 0..20 {
        let got = Runtime::simulated(seed).run(|| {
            let (tx, rx) = channel();
            let host = lamprey::spawn(move || {
                lamprey::sleep(Duration::from_secs(1));
                tx.send(7).unwrap();
            });
            let got = lamprey::block(move || rx.recv().unwrap());
            host.join().unwrap();
            got
        });
        assert_eq!(got, 7);
    }
}

#[test]
fn a_host_that_unwinds_waits_by_the_clock_of_the_simulation() {
    struct Waits;
    impl Drop for Waits {
        fn drop(&mut self) {
            let (_tx, rx) = channel::<()>();
            let begin = lamprey::sim::now();
            lamprey::sleep(Duration::from_secs(10));
            let _ = rx.recv_timeout(Duration::from_secs(10));
            assert!(lamprey::sim::now() - begin >= Duration::from_secs(10));
        }
    }
    Runtime::simulated(1).run(|| {
        let host = lamprey::spawn(|| {
            let _waits = Waits;
            panic!("on purpose");
        });
        host.join().unwrap_err();
    });
}
