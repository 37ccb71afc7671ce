//! Locks: who holds one is alone, nobody's wake is lost. The counters are plain ones behind the lock, with a switch between
//! the read and the write.

use crate::found::{finds, holds};
use lamprey::sync::{Barrier, Condvar, LockOptions, Mutex, Once, Order, RwLock, Semaphore, Wake};
use lamprey::{JoinHandle, spawn, with_timeout, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

const HOSTS: u32 = 4;

fn join(hosts: impl IntoIterator<Item = JoinHandle<()>>) {
    hosts.into_iter().for_each(|host| host.join().unwrap());
}

/// Spawns hosts that do this.
fn hosts(each: impl Fn(u32) + Clone + Send + 'static) -> Vec<JoinHandle<()>> {
    let one = |number| {
        let each = each.clone();
        spawn(move || each(number))
    };
    (0..HOSTS).map(one).collect()
}

/// Adds one, by what is no single step.
fn add(count: &mut u32) {
    let before = *count;
    yield_now();
    *count = before + 1;
}

#[test]
fn mutexes() {
    let plain = LockOptions::new();
    for options in [plain, plain.order(Order::Lifo), plain.wake(Wake::Switch), plain.biased(true)] {
        holds(move || {
            let count = Arc::new(Mutex::with_options(0, options));
            let theirs = count.clone();
            join(hosts(move |number| match number {
                0 => add(&mut theirs.lock().unwrap()),
                1 => add(&mut lamprey::wait(theirs.lock_async()).unwrap()),
                2 => add(&mut lamprey::event::Event::sync(theirs.lock_evt()).unwrap()),
                // Given up by some: the lock must not stay with them.
                _ => drop(theirs.lock_timeout(Duration::from_micros(1)).map(|_guard| yield_now())),
            }));
            assert_eq!(*count.lock().unwrap(), 3);
        });
    }
}

#[test]
fn rwlocks() {
    holds(|| {
        let (count, readers) = (Arc::new(RwLock::new(0)), Arc::new(AtomicU32::new(0)));
        let theirs = (count.clone(), readers);
        join(hosts(move |number| {
            if number % 2 == 0 {
                let mut guard = theirs.0.write().unwrap();
                assert_eq!(theirs.1.load(Relaxed), 0, "a writer is not alone");
                add(&mut guard);
            } else {
                let guard = theirs.0.read().unwrap();
                theirs.1.fetch_add(1, Relaxed);
                let before = *guard;
                yield_now();
                assert_eq!(*guard, before, "it changed while it was read");
                theirs.1.fetch_sub(1, Relaxed);
            }
        }));
        assert_eq!(*count.read().unwrap(), HOSTS / 2);
    });
}

/// A queue of at most two values between two who wait for each other by condition variables.
#[test]
fn condvars_lose_no_wake() {
    holds(|| {
        let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new(), Condvar::new()));
        let theirs = shared.clone();
        let producers = hosts(move |number| {
            let (queue, filled, emptied) = &*theirs;
            let mut queue = emptied.wait_while(queue.lock().unwrap(), |queue| queue.len() == 2).unwrap();
            queue.push(number);
            drop(queue);
            filled.notify_one();
        });
        let (queue, filled, emptied) = &*shared;
        let mut taken: Vec<u32> = (0..HOSTS)
            .map(|_| {
                let mut queue = filled.wait_while(queue.lock().unwrap(), |queue| queue.is_empty()).unwrap();
                let value = queue.pop().unwrap();
                drop(queue);
                emptied.notify_one();
                value
            })
            .collect();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3]);
        join(producers);
    });
}

/// A waiter that is cancelled, or gives up, at the instant of a notification must hand it on.
#[test]
fn a_notification_to_one_who_gives_up_is_handed_on() {
    holds(|| {
        let shared = Arc::new((Mutex::new(0_u32), Condvar::new()));
        let waits = |limit: Duration| {
            let shared = shared.clone();
            spawn(move || {
                let wait =
                    || drop(shared.1.wait_while(shared.0.lock().unwrap(), |permits| *permits == 0).unwrap());
                let _ = with_timeout(limit, wait);
            })
        };
        let waiters = [waits(Duration::from_micros(4)), waits(Duration::MAX)];
        lamprey::sleep(Duration::from_micros(2));
        *shared.0.lock().unwrap() = 1;
        shared.1.notify_one();
        join(waiters);
    });
}

#[test]
fn semaphores() {
    holds(|| {
        let (semaphore, inside) = (Arc::new(Semaphore::new(2)), Arc::new(AtomicU32::new(0)));
        let theirs = (semaphore.clone(), inside);
        join(hosts(move |number| {
            let n = 1 + number % 2;
            let limit = if number == 3 { Duration::from_micros(3) } else { Duration::MAX };
            let Ok(_permit) = theirs.0.acquire_timeout(n, limit) else { return };
            assert!(theirs.1.fetch_add(n, Relaxed) + n <= 2, "more are inside than there are permits");
            yield_now();
            theirs.1.fetch_sub(n, Relaxed);
        }));
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn barriers() {
    holds(|| {
        let shared = Arc::new((Barrier::new(HOSTS as usize), AtomicU32::new(0), AtomicU32::new(0)));
        let theirs = shared.clone();
        join(hosts(move |_| {
            for round in 1..=3 {
                theirs.1.fetch_add(1, Relaxed);
                if theirs.0.wait().is_leader() {
                    theirs.2.fetch_add(1, Relaxed);
                }
                assert!(theirs.1.load(Relaxed) >= round * HOSTS, "it went on before all had come");
            }
        }));
        assert_eq!(shared.2.load(Relaxed), 3);
    });
}

#[test]
fn onces() {
    holds(|| {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let theirs = shared.clone();
        join(hosts(move |number| {
            if number == 3 {
                theirs.0.wait();
            } else {
                theirs.0.call_once(|| {
                    yield_now();
                    theirs.1.fetch_add(1, Relaxed);
                });
            }
            assert_eq!(theirs.1.load(Relaxed), 1, "it went on before the code had run");
        }));
    });
}

/// Reads under one hold of the lock, and writes under another.
#[test]
fn a_lock_that_is_let_go_in_between_is_found() {
    finds("an update is lost", || {
        let count = Arc::new(Mutex::new(0));
        let theirs = count.clone();
        join(hosts(move |_| {
            let before = *theirs.lock().unwrap();
            *theirs.lock().unwrap() = before + 1;
        }));
        assert_eq!(*count.lock().unwrap(), HOSTS, "an update is lost");
    });
}

/// Looks at the condition before it takes the lock.
#[test]
fn a_wake_that_comes_too_early_is_found() {
    finds("deadlock", || {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(()), Condvar::new()));
        let theirs = shared.clone();
        let waiter = spawn(move || {
            if theirs.0.load(Relaxed) == 0 {
                drop(theirs.2.wait(theirs.1.lock().unwrap()));
            }
        });
        yield_now();
        shared.0.store(1, Relaxed);
        shared.2.notify_one();
        waiter.join().unwrap();
    });
}
