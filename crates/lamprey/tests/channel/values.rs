//! No value is lost, doubled or dropped twice: under timeouts that race, disconnection, panics and the end of
//! the runtime, with hosts of several runtimes and OS threads on one channel.

use crate::common::{Counted, FOREVER, count, counter, eventually, run, runtime, tick, within};
use lamprey::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, channel, spawn, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Sends `values` with short timeouts; what was not taken is not sent again. Returns what was taken.
fn send_with_timeouts(tx: &Sender<u64>, values: std::ops::Range<u64>) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(values.start);
    let short = |random: &mut fastrand::Rng| Duration::from_micros(random.u64(0..300));
    values
        .filter(|&value| match tx.send_timeout(value, short(&mut random)) {
            Ok(()) => true,
            Err(SendTimeoutError::Timeout(back)) => {
                assert_eq!(back, value);
                false
            }
            Err(SendTimeoutError::Disconnected(_)) => panic!("receivers are there to the end"),
        })
        .collect()
}

/// Receives with short timeouts until no sender is left.
fn receive_with_timeouts(rx: &Receiver<u64>, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut got = Vec::new();
    loop {
        match rx.recv_timeout(Duration::from_micros(random.u64(0..300))) {
            Ok(value) => got.push(value),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return got,
        }
    }
}

fn sorted(parts: impl IntoIterator<Item = Vec<u64>>) -> Vec<u64> {
    let mut all: Vec<u64> = parts.into_iter().flatten().collect();
    all.sort_unstable();
    all
}

#[test]
fn racing_timeouts_neither_lose_nor_double_a_value() {
    for workers in [1, 2, 4] {
        let (sent, got) = run(workers, || {
            let (tx, rx) = channel();
            let senders: Vec<_> = (0..8_u64)
                .map(|n| {
                    let tx = tx.clone();
                    spawn(move || send_with_timeouts(&tx, n * 300..(n + 1) * 300))
                })
                .collect();
            drop(tx);
            let receivers: Vec<_> = (0..8)
                .map(|n| {
                    let rx = rx.clone();
                    spawn(move || receive_with_timeouts(&rx, n))
                })
                .collect();
            let sent = sorted(senders.into_iter().map(|host| host.join().unwrap()));
            (sent, sorted(receivers.into_iter().map(|host| host.join().unwrap())))
        });
        assert_eq!(sent, got);
    }
}

#[test]
fn hosts_of_two_runtimes_and_os_threads_share_a_channel() {
    within(FOREVER, || {
        let runtimes = [runtime(1), runtime(2)];
        let (tx, rx) = channel();
        let mut senders: Vec<Box<dyn FnOnce() -> Vec<u64>>> = Vec::new();
        let mut receivers: Vec<Box<dyn FnOnce() -> Vec<u64>>> = Vec::new();
        for n in 0..9_u64 {
            let (tx, rx) = (tx.clone(), rx.clone());
            let send = move || send_with_timeouts(&tx, n * 200..(n + 1) * 200);
            let receive = move || receive_with_timeouts(&rx, n);
            if n < 6 {
                let handle = runtimes[n as usize % 2].handle();
                let (sender, receiver) = (handle.spawn(send), handle.spawn(receive));
                senders.push(Box::new(|| sender.join().unwrap()));
                receivers.push(Box::new(|| receiver.join().unwrap()));
            } else {
                let (sender, receiver) = (std::thread::spawn(send), std::thread::spawn(receive));
                senders.push(Box::new(|| sender.join().unwrap()));
                receivers.push(Box::new(|| receiver.join().unwrap()));
            }
        }
        drop((tx, rx));
        let sent = sorted(senders.into_iter().map(|join| join()));
        assert_eq!(sent, sorted(receivers.into_iter().map(|join| join())));
    });
}

#[test]
fn os_threads_use_every_call() {
    let (tx, rx) = channel();
    let theirs = rx.clone();
    let peer = std::thread::spawn(move || theirs.iter().sum::<u32>());
    tx.send(1).unwrap();
    tx.send_timeout(2, FOREVER).unwrap();
    while tx.try_send(3).is_err() {
        std::thread::yield_now();
    }
    drop(tx);
    assert_eq!(peer.join().unwrap(), 6);
    assert_eq!(rx.recv_timeout(FOREVER), Err(RecvTimeoutError::Disconnected));
    let (tx, rx) = channel::<u8>();
    assert_eq!(rx.recv_timeout(Duration::from_millis(3)), Err(RecvTimeoutError::Timeout));
    assert_eq!(tx.send_timeout(9, Duration::from_millis(3)), Err(SendTimeoutError::Timeout(9)));
}

/// A value that counts its making and its end.
struct Value(#[expect(dead_code, reason = "only its drop counts")] Counted);

fn value(made: &AtomicUsize, dropped: &Arc<AtomicUsize>) -> Value {
    tick(made);
    Value(Counted(dropped.clone()))
}

#[test]
fn every_value_is_dropped_once_under_timeouts_and_disconnection() {
    for workers in [1, 2] {
        let (made, dropped) = (counter(), counter());
        let (ours, theirs) = (made.clone(), dropped.clone());
        run(workers, move || {
            let (tx, rx) = channel();
            let mut hosts = Vec::new();
            for n in 0..8 {
                let (tx, made, dropped) = (tx.clone(), ours.clone(), theirs.clone());
                hosts.push(spawn(move || {
                    for m in 0..100 {
                        match (n + m) % 3 {
                            0 => drop(tx.try_send(value(&made, &dropped))),
                            1 => drop(tx.send_timeout(value(&made, &dropped), Duration::from_micros(100))),
                            _ if tx.send(value(&made, &dropped)).is_err() => return,
                            _ => yield_now(),
                        }
                    }
                }));
                let rx = rx.clone();
                // They leave one after the other: the last disconnects those who still send.
                hosts.push(spawn(move || {
                    (0..30 + n).for_each(|_| drop(rx.recv_timeout(Duration::from_millis(1))))
                }));
            }
            drop((tx, rx));
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
        assert!(count(&made) > 0);
        assert_eq!(count(&made), count(&dropped));
    }
}

#[test]
fn every_value_is_dropped_once_when_the_runtime_ends_under_traffic() {
    for workers in [1, 2, 4] {
        for _ in 0..10 {
            let (made, dropped) = (counter(), counter());
            let runtime = runtime(workers);
            let (tx, rx) = channel::<Value>();
            for n in 0..20 {
                let (tx, rx) = (tx.clone(), rx.clone());
                let (made, dropped) = (made.clone(), dropped.clone());
                runtime.handle().spawn(move || {
                    loop {
                        if n % 2 == 0 {
                            drop(tx.send(value(&made, &dropped)));
                        } else if n % 3 == 0 {
                            drop(rx.recv_timeout(Duration::from_micros(50)));
                        } else {
                            drop(rx.recv());
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(3));
            within(FOREVER, || drop(runtime));
            drop((tx, rx));
            assert_eq!(count(&made), count(&dropped));
        }
    }
}

#[test]
fn a_sender_of_another_runtime_outlives_the_receivers() {
    within(FOREVER, || {
        let (made, dropped) = (counter(), counter());
        let (a, b) = (runtime(1), runtime(1));
        let (tx, rx) = channel::<Value>();
        let receiving = a.handle().spawn(move || rx.iter().for_each(drop));
        let (ours, theirs) = (made.clone(), dropped.clone());
        let sending = b.handle().spawn(move || while tx.send(value(&ours, &theirs)).is_ok() {});
        eventually("some have been received", || count(&dropped) >= 100);
        drop(a);
        assert!(matches!(receiving.join(), Err(lamprey::JoinError::Cancelled(_))));
        sending.join().unwrap();
        assert_eq!(count(&made), count(&dropped));
    });
}

/// Sends and receives in its destructor.
struct Talks(Sender<u8>, Receiver<u8>, Arc<AtomicUsize>);

impl Drop for Talks {
    fn drop(&mut self) {
        assert_eq!(self.0.send(1).unwrap_err().0, 1);
        assert_eq!(self.0.send_timeout(2, FOREVER).unwrap_err().into_inner(), 2);
        assert!(self.1.recv().is_err() && self.1.recv_timeout(FOREVER).is_err());
        tick(&self.2);
    }
}

#[test]
fn calls_in_a_destructor_during_a_panic_fail_instead_of_waiting() {
    run(1, || {
        let (tx, rx) = channel();
        let done = counter();
        let talks = Talks(tx.clone(), rx.clone(), done.clone());
        let host = spawn(move || {
            let _talks = talks;
            panic!("with a channel");
        });
        drop(host.join().unwrap_err());
        assert_eq!(count(&done), 1);
        // Nobody was left behind in the channel.
        assert!(tx.try_send(3).is_err() && rx.try_recv().is_err());
    });
}

#[test]
fn calls_in_a_destructor_during_a_panic_meet_a_peer_that_waits() {
    struct Says(Sender<u8>);
    impl Drop for Says {
        fn drop(&mut self) {
            self.0.send(7).unwrap();
        }
    }
    run(1, || {
        let (tx, rx) = channel();
        let waits = spawn(move || rx.recv());
        yield_now();
        let host = spawn(move || {
            yield_now();
            let _says = Says(tx);
            panic!("with a peer");
        });
        drop(host.join().unwrap_err());
        assert_eq!(waits.join().unwrap(), Ok(7));
    });
}

#[test]
fn a_timeout_and_a_meeting_at_the_same_moment_agree() {
    // The sender's deadline passes while the receiver comes: either both have met or neither.
    for workers in [1, 2] {
        run(workers, || {
            let stop = Arc::new(AtomicBool::new(false));
            let (tx, rx) = channel::<u32>();
            let theirs = stop.clone();
            let receiver = spawn(move || {
                let mut got = 0_u64;
                while !theirs.load(Ordering::Acquire) {
                    got += u64::from(rx.try_recv().is_ok());
                    yield_now();
                }
                got
            });
            let sent = (0..2000).filter(|&n| tx.send_timeout(n, Duration::from_micros(70)).is_ok()).count();
            stop.store(true, Ordering::Release);
            assert_eq!(receiver.join().unwrap(), sent as u64);
        });
    }
}
