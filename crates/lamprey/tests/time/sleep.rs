//! Sleeps and deadlines: never early, in order, of any length, and gone when they are not needed.

use crate::common::{Fifo, count, counter, run, tick};
use lamprey::{Builder, RecvTimeoutError, Runtime, channel, sleep, spawn, yield_now};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn nothing_ends_early() {
    for workers in [1, 2] {
        run(workers, || {
            let hosts: Vec<_> = (0..300_u64)
                .map(|n| {
                    spawn(move || {
                        let mut random = fastrand::Rng::with_seed(n);
                        let (_tx, rx) = channel::<()>();
                        for _ in 0..5 {
                            let length = Duration::from_nanos(random.u64(0..3_000_000));
                            let start = Instant::now();
                            if random.bool() {
                                sleep(length);
                            } else {
                                assert_eq!(rx.recv_timeout(length), Err(RecvTimeoutError::Timeout));
                            }
                            let passed = start.elapsed();
                            assert!(passed >= length, "{passed:?} instead of {length:?}");
                        }
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
    }
}

#[test]
fn a_sleep_that_began_earlier_and_is_no_longer_ends_first() {
    let runtime = Runtime::builder().workers(1).policy(Fifo::default).build().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let theirs = order.clone();
    runtime.run(move || {
        let hosts: Vec<_> = (0..300_u32)
            .map(|n| {
                let order = theirs.clone();
                // Armed one after the other; equal lengths at first, then rising through several slots of the
                // wheel.
                let length = Duration::from_millis(5) + Duration::from_micros(40) * n.saturating_sub(50);
                spawn(move || {
                    sleep(length);
                    order.lock().unwrap().push(n);
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
    assert!(order.lock().unwrap().iter().copied().eq(0..300));
}

#[test]
fn no_time_at_all() {
    run(1, || {
        for n in 1..=50 {
            let turns = counter();
            let theirs = turns.clone();
            let other = spawn(move || tick(&theirs));
            sleep(Duration::ZERO);
            assert_eq!(count(&turns), 1, "sleep {n} has let nobody run");
            other.join().unwrap();
        }
    });
    sleep(Duration::ZERO);
}

#[test]
fn as_long_as_can_be_said() {
    for length in [
        Duration::MAX,
        Duration::from_secs(u64::MAX / 2),
        Duration::from_secs(1 << 34),
        Duration::from_secs(1 << 40),
    ] {
        run(1, move || {
            let (tx, rx) = channel();
            let receiver = spawn(move || rx.recv_timeout(length));
            let sleeper = spawn(move || sleep(length)); // ended with the runtime
            yield_now();
            sleep(Duration::from_millis(1));
            tx.send(1).unwrap();
            assert_eq!(receiver.join().unwrap(), Ok(1));
            let (tx, _rx) = channel();
            let sender = spawn(move || tx.send_timeout(2, length));
            yield_now();
            sleep(Duration::from_millis(1));
            assert!(!sleeper.is_finished() && !sender.is_finished(), "{length:?} are over");
        });
    }
}

#[test]
fn a_hundred_thousand_sleep_at_once() {
    run(2, || {
        let woken = counter();
        for n in 0..100_000_u64 {
            let woken = woken.clone();
            let length = Duration::from_micros(n.wrapping_mul(2_654_435_761) % 200_000);
            let host = Builder::new().stack_size(16 << 10).spawn(move || {
                let start = Instant::now();
                sleep(length);
                assert!(start.elapsed() >= length);
                tick(&woken);
            });
            drop(host.unwrap());
            if n % 64 == 0 {
                yield_now();
            }
        }
        crate::common::eventually("the last of them", || count(&woken) == 100_000);
    });
}

#[test]
fn a_deadline_that_was_not_needed_is_gone() {
    // A node left in the wheel would point into a stack that is used again: with debug assertions it would be
    // caught when it is dropped, without them by what the wheel then finds.
    run(1, || {
        let (tx, rx) = channel();
        let sender = spawn(move || {
            (0..20_000_u32).for_each(|n| tx.send_timeout(n, Duration::from_secs(3600)).unwrap())
        });
        let mut got = 0;
        while let Ok(n) = rx.recv_timeout(Duration::from_millis(500)) {
            assert_eq!(n, got);
            got += 1;
        }
        sender.join().unwrap();
        assert_eq!(got, 20_000);
        // Others run on the same stacks, beyond the time at which the deadlines would have come.
        let hosts: Vec<_> = (0..50).map(|_| spawn(|| sleep(Duration::from_millis(20)))).collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn an_unwinding_host_sleeps_in_the_kernel() {
    struct Sleeps;
    impl Drop for Sleeps {
        fn drop(&mut self) {
            let start = Instant::now();
            sleep(Duration::from_millis(3));
            assert!(start.elapsed() >= Duration::from_millis(3));
        }
    }
    run(1, || {
        let host = spawn(|| {
            let _sleeps = Sleeps;
            panic!("and sleeps");
        });
        let _: () = host.join().map_err(drop).unwrap_err();
    });
}

#[test]
fn an_os_thread_sleeps() {
    let start = Instant::now();
    sleep(Duration::from_millis(3));
    assert!(start.elapsed() >= Duration::from_millis(3));
}

#[test]
fn sleepers_wake_while_others_keep_the_worker_busy() {
    run(1, || {
        let done = counter();
        let busy: Vec<_> = (0..3)
            .map(|_| {
                let done = done.clone();
                spawn(move || {
                    let mut turns = 0;
                    while count(&done) == 0 {
                        turns += 1;
                        yield_now();
                    }
                    turns
                })
            })
            .collect();
        sleep(Duration::from_millis(10));
        tick(&done);
        let turns: Vec<u64> = busy.into_iter().map(|host| host.join().unwrap()).collect();
        assert!(turns.iter().all(|&turns| turns > 0), "they ran beside the sleeper: {turns:?}");
    });
}
