//! What programs in Go take for granted of an unbuffered channel, restated for this one.
//!
//! Go closes a channel by hand; here it is closed when the last handle of the other side goes. Where Go
//! panics (send on a closed channel), an error with the value comes back.

use crate::common::{count, counter, run, tick, yield_until};
use lamprey::{Receiver, RecvError, TryRecvError, channel, spawn, yield_now};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A plain value that two threads use in turn, ordered by nothing but the channel.
struct Shared(UnsafeCell<u32>);
// SAFETY: the tests order their accesses by a channel, which is what they are about.
unsafe impl Sync for Shared {}
// SAFETY: a number.
unsafe impl Send for Shared {}

impl Shared {
    fn set(&self, value: u32) {
        // SAFETY: see the type.
        unsafe { *self.0.get() = value }
    }
    fn get(&self) -> u32 {
        // SAFETY: see the type.
        unsafe { *self.0.get() }
    }
}

#[test]
fn a_send_happens_before_its_receive_completes() {
    run(2, || {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let (tx, rx) = channel();
        let (done, resume) = channel();
        let theirs = shared.clone();
        let writer = spawn(move || {
            for n in 1..=1000 {
                theirs.set(n);
                tx.send(()).unwrap();
                resume.recv().unwrap();
            }
        });
        for n in 1..=1000 {
            rx.recv().unwrap();
            assert_eq!(shared.get(), n);
            done.send(()).unwrap();
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_receive_begins_before_its_send_completes() {
    for workers in [1, 2] {
        run(workers, || {
            let (tx, rx) = channel();
            let begun = Arc::new(AtomicU32::new(0));
            let theirs = begun.clone();
            let receiver = spawn(move || {
                for n in 1..=1000 {
                    theirs.store(n, Ordering::Relaxed); // ordered by the channel alone
                    rx.recv().unwrap();
                }
            });
            for n in 1..=1000 {
                tx.send(()).unwrap();
                assert!(begun.load(Ordering::Relaxed) >= n, "sent without a receiver");
            }
            receiver.join().unwrap();
        });
    }
}

#[test]
fn a_send_does_not_complete_without_a_receiver() {
    run(1, || {
        let (tx, rx) = channel();
        let passed = Arc::new(AtomicBool::new(false));
        let theirs = passed.clone();
        let sender = spawn(move || {
            tx.send(0).unwrap();
            theirs.store(true, Ordering::Relaxed);
        });
        (0..100).for_each(|_| yield_now());
        assert!(!passed.load(Ordering::Relaxed));
        rx.recv().unwrap();
        sender.join().unwrap();
    });
}

#[test]
fn a_closed_channel_answers_every_receive_at_once() {
    run(1, || {
        let (tx, rx) = channel::<u8>();
        drop(tx);
        assert!((0..100).all(|_| rx.recv() == Err(RecvError)));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn closing_wakes_every_receiver() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        let waiting = counter();
        let hosts: Vec<_> = (0..100)
            .map(|_| {
                let (rx, waiting) = (rx.clone(), waiting.clone());
                spawn(move || {
                    tick(&waiting);
                    rx.recv()
                })
            })
            .collect();
        yield_until("all receivers", || count(&waiting) == 100);
        drop(tx);
        assert!(hosts.into_iter().all(|host| host.join().unwrap() == Err(RecvError)));
    });
}

#[test]
fn closing_happens_before_the_receive_that_sees_it() {
    run(2, || {
        for n in 0..200 {
            let shared = Arc::new(Shared(UnsafeCell::new(0)));
            let (tx, rx) = channel::<u8>();
            let theirs = shared.clone();
            let closer = spawn(move || {
                theirs.set(n);
                drop(tx);
            });
            assert_eq!(rx.recv(), Err(RecvError));
            assert_eq!(shared.get(), n);
            closer.join().unwrap();
        }
    });
}

#[test]
fn a_range_over_a_channel_ends_when_it_is_closed() {
    run(1, || {
        let (tx, rx) = channel();
        spawn(move || (0..10).for_each(|n| tx.send(n).unwrap()));
        let mut seen = Vec::new();
        for n in &rx {
            seen.push(n);
        }
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn a_select_with_a_default_is_a_try() {
    run(1, || {
        let (tx, rx) = channel();
        let polls = counter();
        let theirs = polls.clone();
        let poller = spawn(move || {
            loop {
                match rx.try_recv() {
                    Ok(value) => return value,
                    Err(TryRecvError::Empty) => tick(&theirs),
                    Err(TryRecvError::Disconnected) => unreachable!(),
                }
                yield_now();
            }
        });
        yield_until("empty polls", || count(&polls) > 3);
        tx.send("at last").unwrap();
        assert_eq!(poller.join().unwrap(), "at last");
    });
}

/// The classic: a chain of filters, one for each prime.
fn sieve(count: usize) -> Vec<u32> {
    let (tx, mut numbers) = channel();
    spawn(move || (2..).take_while(|&n| tx.send(n).is_ok()).for_each(drop));
    let mut primes = Vec::new();
    while primes.len() < count {
        let prime = numbers.recv().unwrap();
        primes.push(prime);
        let (tx, filtered): (_, Receiver<u32>) = channel();
        spawn(move || {
            numbers.iter().filter(|n| n % prime != 0).take_while(|&n| tx.send(n).is_ok()).for_each(drop);
        });
        numbers = filtered;
    }
    primes
}

#[test]
fn the_prime_sieve() {
    for workers in [1, 2] {
        let primes = run(workers, || sieve(60));
        assert_eq!(primes[..5], [2, 3, 5, 7, 11]);
        assert_eq!(primes[59], 281);
    }
}

#[test]
fn a_daisy_chain() {
    let end = run(1, || {
        let (first, mut rx) = channel();
        for _ in 0..5000 {
            let (tx, next) = channel();
            spawn(move || tx.send(rx.recv().unwrap() + 1).unwrap());
            rx = next;
        }
        first.send(0).unwrap_or_else(|_| unreachable!("the chain waits"));
        rx.recv().unwrap()
    });
    assert_eq!(end, 5000);
}

#[test]
fn a_channel_as_a_semaphore_and_a_lock() {
    run(2, || {
        let (unlock, lock) = channel::<u32>();
        let keeper = unlock.clone();
        let workers: Vec<_> = (0..10)
            .map(|_| {
                let (unlock, lock) = (unlock.clone(), lock.clone());
                spawn(move || {
                    for _ in 0..100 {
                        let value = lock.recv().unwrap();
                        yield_now();
                        unlock.send(value + 1).unwrap();
                    }
                })
            })
            .collect();
        keeper.send(0).unwrap();
        let total = spawn(move || {
            lock.iter().inspect(|_| yield_now()).find(|&value| value == 1000 || keeper.send(value).is_err())
        });
        workers.into_iter().for_each(|host| host.join().unwrap());
        drop(unlock);
        assert_eq!(total.join().unwrap(), Some(1000));
    });
}

#[test]
fn fan_out_and_fan_in() {
    for workers in [1, 2, 4] {
        let sum: u64 = run(workers, || {
            let (jobs, queue) = channel::<u64>();
            let (results, all) = channel();
            for _ in 0..10 {
                let (queue, results) = (queue.clone(), results.clone());
                spawn(move || queue.iter().for_each(|n| results.send(n * n).unwrap()));
            }
            drop((queue, results));
            spawn(move || (0..1000).for_each(|n| jobs.send(n).unwrap()));
            all.iter().sum()
        });
        assert_eq!(sum, (0..1000).map(|n| n * n).sum::<u64>());
    }
}
