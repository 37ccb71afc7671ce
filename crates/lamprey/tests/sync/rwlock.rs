//! The lock for readers and writers, by the moment.

use crate::common::*;
use futures::poll;
use lamprey::event::{Event, choose, timeout};
use lamprey::sync::{
    LockError, LockOptions, LockTimeoutError, Order, RwLock, RwLockWriteGuard, TryLockError, Wake,
};
use lamprey::{JoinError, JoinHandle, spawn, wait};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LATE: Duration = Duration::from_secs(3600);

type Shared = Arc<RwLock<u32>>;

fn lock() -> Shared {
    Arc::new(RwLock::new(0))
}

/// A host that is blocked in `write`, and adds one then.
fn writes(lock: &Shared) -> JoinHandle<()> {
    let lock = lock.clone();
    blocked(move || *lock.write().unwrap() += 1)
}

/// A host that is blocked in `read`, and gives what it sees.
fn reads(lock: &Shared) -> JoinHandle<u32> {
    let lock = lock.clone();
    blocked(move || *lock.read().unwrap())
}

/// Nobody holds it, and nobody is thought to.
fn is_free(lock: &Shared) -> bool {
    lock.try_write().is_ok()
}

#[test]
fn readers_share_and_a_writer_is_alone() {
    run(1, || {
        let lock = lock();
        let (a, b) = (lock.read().unwrap(), lock.try_read().unwrap());
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        drop((a, b));
        let writer = lock.write().unwrap();
        assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        drop(writer);
        assert!(is_free(&lock));
    });
}

#[test]
fn nobody_overtakes_and_readers_go_together() {
    run(1, || {
        let lock = lock();
        let reader = lock.read().unwrap();
        let first = writes(&lock);
        let between: Vec<_> = (0..20).map(|_| reads(&lock)).collect();
        let second = writes(&lock);
        let last = reads(&lock);
        assert!(lock.try_read().is_err(), "it overtakes the writer");
        drop(reader);
        first.join().unwrap();
        assert!(between.into_iter().all(|host| host.join().unwrap() == 1));
        second.join().unwrap();
        assert_eq!(last.join().unwrap(), 2);
    });
}

#[test]
fn the_last_to_come_goes_first_where_that_is_asked_for() {
    for wake in [Wake::Enqueue, Wake::Switch] {
        let order = run(1, move || {
            let lock =
                Arc::new(RwLock::with_options(Vec::new(), LockOptions::new().order(Order::Lifo).wake(wake)));
            let guard = lock.write().unwrap();
            let hosts: Vec<_> = (0..3)
                .map(|n| {
                    let lock = lock.clone();
                    blocked(move || lock.write().unwrap().push(n))
                })
                .collect();
            drop(guard);
            hosts.into_iter().for_each(|host| host.join().unwrap());
            Arc::into_inner(lock).unwrap().into_inner().unwrap()
        });
        assert_eq!(order, [2, 1, 0], "{wake:?}");
    }
}

#[test]
fn a_writer_that_gives_up_lets_the_readers_behind_it_go() {
    run(1, || {
        let lock = lock();
        let reader = lock.read().unwrap();
        let theirs = lock.clone();
        let writer = blocked(move || matches!(theirs.write_timeout(SOON), Err(LockTimeoutError::TimedOut)));
        let behind = reads(&lock);
        assert!(writer.join().unwrap());
        assert_eq!(behind.join().unwrap(), 0);
        let theirs = lock.clone();
        let patient = blocked(move || theirs.write_timeout(LATE).map(|mut guard| *guard += 1).is_ok());
        drop(reader);
        assert!(patient.join().unwrap());
        assert!(lock.read_timeout(LATE).is_ok_and(|guard| *guard == 1));
    });
}

#[test]
fn cancelled_while_it_waits_it_lets_those_behind_go() {
    run(1, || {
        let lock = lock();
        let reader = lock.read().unwrap();
        let writer = writes(&lock);
        let behind = reads(&lock);
        writer.cancel();
        assert!(matches!(writer.join(), Err(JoinError::Cancelled(_))));
        assert_eq!(behind.join().unwrap(), 0);
        drop(reader);
        assert!(is_free(&lock));
    });
}

#[test]
fn cancelled_while_granted_it_passes_the_lock_on() {
    run(1, || {
        let lock = lock();
        for host in [writes, |lock: &Shared| {
            let lock = lock.clone();
            blocked(move || drop(lock.read().unwrap()))
        }] {
            let guard = lock.write().unwrap();
            let gone = host(&lock);
            let behind = writes(&lock);
            gone.cancel();
            drop(guard);
            assert!(matches!(gone.join(), Err(JoinError::Cancelled(_))));
            behind.join().unwrap();
            assert!(is_free(&lock) && !lock.is_poisoned());
        }
    });
}

#[test]
fn a_future_that_is_dropped_passes_the_lock_on() {
    run(1, || {
        let lock = lock();
        wait(async {
            let guard = lock.write_async().await.unwrap();
            let mut writer = Box::pin(lock.write_async());
            let mut reader = Box::pin(lock.read_async());
            assert!(poll!(&mut writer).is_pending() && poll!(&mut reader).is_pending());
            drop(guard);
            drop(writer);
            drop(reader);
        });
        assert!(is_free(&lock));
    });
}

#[test]
fn the_losers_of_a_choice_hold_nothing() {
    run(2, || {
        let locks: Vec<_> = (0..3).map(|_| lock()).collect();
        for round in 0..200 {
            let writers = locks.iter().map(|lock| lock.write_evt().wrap(|guard| drop(guard.unwrap())));
            let readers = locks.iter().map(|lock| lock.read_evt().wrap(|guard| drop(guard.unwrap())));
            let limit = timeout(LATE).wrap(|()| panic!("a free lock was not had"));
            if round % 2 == 0 {
                choose((choose(writers.collect::<Vec<_>>()), limit)).sync();
            } else {
                choose((choose(readers.collect::<Vec<_>>()), limit)).sync();
            }
            assert!(locks.iter().all(is_free));
        }
        let guards: Vec<_> = locks.iter().map(|lock| lock.read().unwrap()).collect();
        let in_vain = choose(locks.iter().map(|lock| lock.write_evt()).collect::<Vec<_>>());
        assert!(in_vain.sync_timeout(SOON).is_none());
        drop(guards);
        assert!(locks.iter().all(is_free));
    });
}

#[test]
fn a_writer_that_ends_badly_poisons_and_a_reader_does_not() {
    run(1, || {
        let lock = lock();
        let theirs = lock.clone();
        let reader = spawn(move || {
            let _guard = theirs.read().unwrap();
            panic!("on purpose");
        });
        let _: Result<(), _> = reader.join();
        assert!(!lock.is_poisoned());
        let theirs = lock.clone();
        let writer = blocked(move || {
            let _guard = theirs.write().unwrap();
            lamprey::sleep(LATE);
        });
        let waiting = {
            let theirs = lock.clone();
            blocked(move || matches!(theirs.read(), Err(LockError::Poisoned(_))))
        };
        writer.cancel();
        assert!(matches!(writer.join(), Err(JoinError::Cancelled(_))));
        assert!(waiting.join().unwrap());
        assert!(matches!(lock.write(), Err(LockError::Poisoned(_))));
        *lock.write().unwrap_or_else(|error| error.into_guard().unwrap()) = 7;
        lock.clear_poison();
        assert_eq!(*lock.read().unwrap(), 7);
    });
}

#[test]
fn one_that_unwinds_does_not_wait() {
    struct Late(Shared, Arc<Mutex<Vec<bool>>>);
    impl Drop for Late {
        fn drop(&mut self) {
            let mut seen = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            seen.push(self.0.read().is_ok());
            seen.push(matches!(self.0.write(), Err(LockError::Unwinding)));
            seen.push(matches!(self.0.write_timeout(LATE), Err(LockTimeoutError::Unwinding)));
            seen.push(matches!(self.0.write_evt().sync(), Err(LockError::Unwinding)));
        }
    }
    run(1, || {
        let (lock, seen) = (lock(), Arc::new(Mutex::new(Vec::new())));
        let reader = lock.read().unwrap();
        let late = Late(lock.clone(), seen.clone());
        let host = spawn(move || {
            let _late = late;
            panic!("on purpose");
        });
        let _: Result<(), _> = host.join();
        assert_eq!(*seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner), [true; 4]);
        drop(reader);
        assert!(is_free(&lock));
    });
}

#[test]
fn a_writer_becomes_a_reader_without_a_gap() {
    run(1, || {
        let lock = lock();
        let mut writer = lock.write().unwrap();
        let with_us: Vec<_> = (0..10).map(|_| reads(&lock)).collect();
        let behind = writes(&lock);
        *writer = 5;
        let reader = RwLockWriteGuard::downgrade(writer);
        assert!(with_us.into_iter().all(|host| host.join().unwrap() == 5));
        assert!(!behind.is_finished());
        drop(reader);
        behind.join().unwrap();
        assert_eq!(*lock.read().unwrap(), 6);
    });
}

#[test]
fn a_guard_is_let_go_by_another_thread() {
    run(2, || {
        let lock: &'static RwLock<u32> = Box::leak(Box::new(RwLock::new(0)));
        for _ in 0..100 {
            let writer = lock.write().unwrap();
            let host = spawn(move || drop(writer));
            let reader = lock.read().unwrap();
            std::thread::spawn(move || drop(reader)).join().unwrap();
            host.join().unwrap();
        }
        assert!(lock.try_write().is_ok());
    });
}

#[test]
fn hosts_of_two_runtimes_parasites_and_os_threads_share_the_lock() {
    const EACH: u64 = 400;
    // Both are always the same for who reads.
    let lock = Arc::new(RwLock::new((0_u64, 0_u64)));
    let work = {
        let lock = lock.clone();
        move |n: u64| {
            if n.is_multiple_of(4) {
                let mut pair = lock.write().unwrap();
                pair.0 += 1;
                if n.is_multiple_of(8) {
                    lamprey::yield_now();
                }
                pair.1 += 1;
            } else {
                let pair = lock.read().unwrap();
                assert_eq!(pair.0, pair.1);
            }
        }
    };
    let hosts = |n: usize| {
        let work = work.clone();
        std::thread::spawn(move || {
            run(2, move || {
                let one = || {
                    let work = work.clone();
                    spawn(move || (0..EACH).for_each(work))
                };
                let hosts: Vec<_> = (0..n).map(|_| one()).collect();
                hosts.into_iter().for_each(|host| host.join().unwrap());
            });
        })
    };
    let runtimes = [hosts(4), hosts(3)];
    let os = std::thread::spawn({
        let work = work.clone();
        move || (0..EACH).for_each(work)
    });
    let theirs = lock.clone();
    run(1, move || {
        let parasite = lamprey::parasite(async move {
            for n in 0..EACH {
                if n.is_multiple_of(4) {
                    let mut pair = theirs.write_async().await.unwrap();
                    pair.0 += 1;
                    lamprey::yield_now_async().await;
                    pair.1 += 1;
                } else {
                    let pair = theirs.read_async().await.unwrap();
                    assert_eq!(pair.0, pair.1);
                }
            }
        });
        parasite.join().unwrap();
    });
    os.join().unwrap();
    runtimes.into_iter().for_each(|runtime| runtime.join().unwrap());
    assert_eq!(*lock.read().unwrap(), (EACH / 4 * 9, EACH / 4 * 9));
}
