//! Cancellation at every point: an operation has either happened or not, never half; scopes, shields, time limits.

use crate::found::{RUNS, finds, finds_with, holds};
use lamprey::sim::{SimBuilder, explore};
use lamprey::sync::{Mutex, Semaphore};
use lamprey::{CancelToken, JoinError, bounded, channel, sleep, spawn, with_timeout, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Runs `work` with limits before, between and after what it does. The clock of a simulation goes on by a microsecond a step,
/// and limits are kept by a timer wheel with ticks of 66 microseconds.
fn at_each_step(work: impl Fn(Duration) + Sync) {
    for ticks in 0..3 {
        explore(RUNS, |sim| sim.steps(20_000).run(|| work(Duration::from_micros(66 * ticks))));
    }
}

/// Sends until it is cancelled, at most a hundred; returns how many were sent. (A send that need not wait succeeds on a
/// cancelled thread, too.)
fn send_all(limit: Duration, send: impl Fn(u32)) -> u32 {
    let sent = AtomicU32::new(0);
    let _ = with_timeout(limit, || {
        for number in 0..100 {
            send(number);
            sent.store(number + 1, Relaxed);
        }
    });
    sent.into_inner()
}

#[test]
fn a_message_has_been_sent_or_not() {
    at_each_step(|limit| {
        let (tx, rx) = channel();
        let sender = spawn(move || send_all(limit, |number| tx.send(number).unwrap()));
        let received: Vec<u32> = rx.iter().collect();
        assert_eq!(received.len() as u32, sender.join().unwrap(), "what was sent, and what arrived");
        assert!(received.iter().copied().eq(0..received.len() as u32));
    });
}

#[test]
fn a_bounded_channel_has_the_value_or_the_sender_has() {
    at_each_step(|limit| {
        let (tx, rx) = bounded(1);
        let sender = spawn(move || send_all(limit, |number| tx.send(number).unwrap()));
        let received = rx.iter().count();
        assert_eq!(received as u32, sender.join().unwrap());
    });
}

#[test]
fn permits_and_locks_come_back() {
    at_each_step(|limit| {
        let shared = Arc::new((Semaphore::new(1), Mutex::new(0)));
        let hosts = [(); 3].map(|()| {
            let shared = shared.clone();
            spawn(move || {
                let _ = with_timeout(limit, || {
                    let _permit = shared.0.acquire(1).unwrap();
                    yield_now();
                    let guard = shared.1.lock().unwrap_or_else(|error| error.into_guard().unwrap());
                    yield_now();
                    drop(guard);
                });
            })
        });
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(shared.0.available_permits(), 1, "a permit is lost");
        shared.1.clear_poison();
        drop(shared.1.try_lock().unwrap());
    });
}

#[test]
fn a_limit_that_races_with_completion_tells_the_truth() {
    at_each_step(|limit| {
        let (tx, rx) = channel();
        let sender = spawn(move || {
            sleep(Duration::from_micros(66));
            tx.send_timeout((), Duration::from_micros(66)).is_ok()
        });
        let got = with_timeout(limit, || rx.recv()).is_ok_and(|got| got.is_ok());
        drop(rx);
        assert_eq!(sender.join().unwrap(), got);
    });
}

#[test]
fn a_shielded_section_is_done_to_its_end() {
    at_each_step(|limit| {
        let steps = Arc::new(AtomicU32::new(0));
        let theirs = steps.clone();
        let host = spawn(move || {
            lamprey::shield(|| {
                for _ in 0..5 {
                    sleep(Duration::from_micros(20));
                    theirs.fetch_add(1, Relaxed);
                }
            });
            yield_now();
        });
        sleep(limit);
        host.cancel();
        let ended = host.join();
        assert!(ended.is_ok() || matches!(ended, Err(JoinError::Cancelled(_))));
        // All of it, or it was cancelled before it began.
        assert!([0, 5].contains(&steps.load(Relaxed)), "{steps:?}");
    });
}

#[test]
fn no_child_outlives_its_scope() {
    at_each_step(|limit| {
        struct Lives(Arc<AtomicU32>);
        impl Drop for Lives {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        let alive = Arc::new(AtomicU32::new(0));
        let ended = with_timeout(limit, || {
            lamprey::scope(|scope| {
                for _ in 0..3 {
                    alive.fetch_add(1, Relaxed);
                    let lives = Lives(alive.clone());
                    scope.spawn(move || {
                        let _lives = lives;
                        sleep(Duration::from_micros(4));
                    });
                }
                alive.fetch_add(1, Relaxed);
                let lives = Lives(alive.clone());
                scope.parasite(async move {
                    let _lives = lives;
                    lamprey::sleep_async(Duration::from_micros(6)).await;
                });
            });
        });
        assert_eq!(alive.load(Relaxed), 0, "{ended:?}");
    });
}

#[test]
fn tokens_end_exactly_their_sections() {
    holds(|| {
        let parent = CancelToken::new();
        let tokens = [parent.child(), CancelToken::new()];
        let hosts = tokens
            .clone()
            .map(|token| spawn(move || token.run(|| sleep(Duration::from_micros(20))).is_err()));
        yield_now();
        parent.cancel();
        let ended = hosts.map(|host| host.join().unwrap());
        assert_eq!(ended, [true, false], "a section of another token was ended, or its own was not");
    });
}

/// Holds a value, not yet handed on, when a limit ends it.
#[test]
fn a_value_between_two_operations_is_found() {
    finds("a value is lost", || {
        let (tx, rx) = bounded(1);
        let (out, end) = bounded(1);
        let sender = spawn(move || (0..3).take_while(|number| tx.send(*number).is_ok()).count());
        let receiver = spawn(move || end.iter().inspect(|_| sleep(Duration::from_micros(66))).count());
        for _ in 0..4 {
            let _ = with_timeout(Duration::from_micros(66), || {
                while let Ok(value) = rx.recv() {
                    out.send(value).unwrap();
                }
            });
        }
        let left = rx.try_iter().count();
        drop((rx, out));
        assert_eq!(receiver.join().unwrap() + left, sender.join().unwrap(), "a value is lost");
    });
}

/// Shields itself for ever.
#[test]
fn a_thread_that_does_not_end_is_found() {
    finds_with("have not ended", |sim: SimBuilder| {
        sim.run(|| {
            spawn(|| lamprey::shield(|| sleep(Duration::MAX)));
            yield_now();
        });
    });
}
