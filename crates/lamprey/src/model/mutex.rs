//! The wait queue of the locks, in the mutex: one thread at a time has the lock, and every waiter gets it,
//! even if others time out, are dropped or are chosen elsewhere meanwhile.
//!
//! Queue, choice, futures and tasks are the real ones; the worker is [`worker`](crate::sched::worker) of this
//! build. Threads block as OS threads, and a deadline may pass at any moment.

use super::owned::as_worker;
use super::{Broken, check, check_bounded, must_fail};
use crate::events::{Event, choose};
use crate::sched::worker::{Parasite, Worker, WorkerShared, with_strange_context};
use crate::sync::{LockOptions, Mutex, Order};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::time::Duration;

/// A deadline that passes as soon as it is checked; the checker varies when that is.
const SOON: Duration = Duration::ZERO;

/// A number whose accesses the checker checks.
#[derive(Default)]
pub(super) struct Watched(UnsafeCell<u32>);

// SAFETY: the checker finds concurrent accesses.
unsafe impl Sync for Watched {}
// SAFETY: the checker finds accesses that nothing orders.
unsafe impl Send for Watched {}

impl Watched {
    pub(super) fn add(&self, by: u32) -> u32 {
        self.0.with_mut(|number| {
            // SAFETY: the checker finds concurrent accesses.
            unsafe {
                *number += by;
                *number
            }
        })
    }
}

/// Not dropped after a failure: the checker is gone then.
#[derive(Clone)]
struct Lock(ManuallyDrop<Arc<Mutex<Watched>>>);

impl std::ops::Deref for Lock {
    type Target = Mutex<Watched>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: dropped only here.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

fn lock() -> Lock {
    lock_with(Order::Fifo)
}

fn lock_with(order: Order) -> Lock {
    lock_of(LockOptions::new().order(order))
}

fn lock_of(options: LockOptions) -> Lock {
    Lock(ManuallyDrop::new(Arc::new(Mutex::with_options(Watched::default(), options))))
}

fn add(lock: &Lock) {
    lock.lock().unwrap().add(1);
}

/// Adds 1 and returns 1, if the lock could be had in time.
fn add_soon(lock: &Lock) -> u32 {
    lock.lock_timeout(SOON).map_or(0, |guard| {
        guard.add(1);
        1
    })
}

/// The sum; no thread holds the lock or waits for it any more.
fn total(lock: &Lock) -> u32 {
    lock.try_lock().expect("somebody has left it locked").add(0)
}

fn spawn_each(lock: &Lock, bodies: &[fn(&Lock) -> u32]) -> u32 {
    let threads: Vec<_> = bodies
        .iter()
        .map(|&body| {
            let lock = lock.clone();
            thread::spawn(move || body(&lock))
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).sum()
}

fn add_one(lock: &Lock) -> u32 {
    add(lock);
    1
}

fn two() {
    let lock = lock();
    let theirs = lock.clone();
    let other = thread::spawn(move || add(&theirs));
    add(&lock);
    other.join().unwrap();
    assert_eq!(total(&lock), 2);
}

/// Both waiters come while the lock is held.
fn two_behind_one(order: Order) {
    let lock = lock_with(order);
    let held = lock.lock().unwrap();
    let threads = [(); 2].map(|()| {
        let lock = lock.clone();
        thread::spawn(move || add(&lock))
    });
    drop(held);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(total(&lock), 2);
}

/// One thread waits while the lock is released and taken again.
fn one_behind_two_turns() {
    let lock = lock();
    let theirs = lock.clone();
    let held = lock.lock().unwrap();
    let other = thread::spawn(move || add(&theirs));
    drop(held);
    add(&lock);
    other.join().unwrap();
    assert_eq!(total(&lock), 2);
}

/// As above with two, the second of which waits for the first to try.
fn two_behind_two_turns() {
    let lock = lock();
    let held = lock.lock().unwrap();
    let threads = [(); 2].map(|()| {
        let lock = lock.clone();
        thread::spawn(move || add(&lock))
    });
    drop(held);
    add(&lock);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(total(&lock), 3);
}

fn time_out_against_unlock() {
    let lock = lock();
    let theirs = lock.clone();
    let held = lock.lock().unwrap();
    let other = thread::spawn(move || add_soon(&theirs));
    drop(held);
    let got = other.join().unwrap();
    assert_eq!(total(&lock), got);
}

/// The first of two waiters gives up.
fn time_out_before_another() {
    let lock = lock();
    let held = lock.lock().unwrap();
    let leaver = {
        let lock = lock.clone();
        thread::spawn(move || add_soon(&lock))
    };
    let other = {
        let lock = lock.clone();
        thread::spawn(move || add(&lock))
    };
    drop(held);
    other.join().unwrap();
    let got = leaver.join().unwrap();
    assert_eq!(total(&lock), 1 + got);
}

/// A waiter gives up before another waits.
fn time_out_and_then_another() {
    let lock = lock();
    let got: u32 = [add_soon as fn(&Lock) -> u32, add_one]
        .into_iter()
        .map(|body| {
            let theirs = lock.clone();
            let held = lock.lock().unwrap();
            let other = thread::spawn(move || body(&theirs));
            drop(held);
            other.join().unwrap()
        })
        .sum();
    assert_eq!(total(&lock), got);
}

/// A choice of two locks, both of which are released.
fn choice() {
    let (a, b) = (lock(), lock());
    let (held_a, held_b) = (a.lock().unwrap(), b.lock().unwrap());
    let chooser = {
        let (a, b) = (a.clone(), b.clone());
        thread::spawn(move || {
            choose([a.lock_evt(), b.lock_evt()]).sync().unwrap().add(1);
        })
    };
    drop(held_a);
    drop(held_b);
    chooser.join().unwrap();
    assert_eq!(total(&a) + total(&b), 1);
}

/// As `choice`; two threads release the locks, and the choice may time out.
fn choice_between_two() {
    let (a, b) = (lock(), lock());
    let (held_a, held_b) = (a.lock().unwrap(), b.lock().unwrap());
    let chooser = {
        let (a, b) = (a.clone(), b.clone());
        thread::spawn(move || {
            let chosen = choose([a.lock_evt(), b.lock_evt()]).sync_timeout(SOON);
            chosen.map_or(0, |guard| {
                guard.unwrap().add(1);
                1
            })
        })
    };
    let unlocker = {
        let b = b.clone();
        std::mem::forget(held_b);
        thread::spawn(move || drop(unsafe_guard(&b)))
    };
    drop(held_a);
    let got = chooser.join().unwrap();
    unlocker.join().unwrap();
    assert_eq!(total(&a) + total(&b), got);
}

/// The guard of a lock whose guard was forgotten.
fn unsafe_guard(lock: &Lock) -> crate::sync::MutexGuard<'_, Watched> {
    // SAFETY: the lock is held for the caller.
    unsafe { crate::sync::MutexGuard::held(lock) }
}

/// A choice waits in front of a thread for the same lock, and may win another lock.
fn stale_offer_before_a_thread() {
    let (a, b) = (lock(), lock());
    let (held_a, held_b) = (a.lock().unwrap(), b.lock().unwrap());
    let chooser = {
        let (a, b) = (a.clone(), b.clone());
        thread::spawn(move || {
            choose([a.lock_evt(), b.lock_evt()]).sync().unwrap().add(1);
        })
    };
    let other = {
        let b = b.clone();
        thread::spawn(move || add(&b))
    };
    drop(held_a);
    drop(held_b);
    chooser.join().unwrap();
    other.join().unwrap();
    assert_eq!(total(&a) + total(&b), 2);
}

/// A waiting future is dropped while the lock is released; a thread waits behind it.
fn future_goes() {
    let lock = lock();
    let held = lock.lock().unwrap();
    let theirs = lock.clone();
    let mut first = Box::pin(async move { theirs.lock_async().await.map(drop).is_ok() });
    assert!(with_strange_context(|cx| first.as_mut().poll(cx)).is_pending());
    let leaver = thread::spawn(move || drop(first));
    let other = {
        let lock = lock.clone();
        thread::spawn(move || add(&lock))
    };
    drop(held);
    other.join().unwrap();
    leaver.join().unwrap();
    assert_eq!(total(&lock), 1);
}

/// A parasite waits for the lock; it may be cancelled.
fn parasite(is_shared: bool, cancels: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let lock = lock();
        let held = lock.lock().unwrap();
        let theirs = lock.clone();
        let parasite = Parasite::new(worker, is_shared, async move {
            theirs.lock_async().await.unwrap().add(1);
        });
        parasite.start(worker);
        std::mem::forget(held);
        let peer = {
            let lock = lock.clone();
            thread::spawn(move || {
                Worker::play(&WorkerShared::new(), |worker| {
                    drop(unsafe_guard(&lock));
                    worker.run();
                });
            })
        };
        if cancels {
            parasite.cancel();
        }
        parasite.detach();
        worker.run();
        peer.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "nobody woke it");
        assert!(cancels || total(&lock) == 1);
        total(&lock);
    });
}

/// A worker owns the lock; another thread comes, which may be a worker too.
fn owner_and_another(is_worker: bool) {
    as_worker(|| {
        let lock = lock_of(LockOptions::new().biased(true));
        add(&lock);
        let theirs = lock.clone();
        let other = thread::spawn(move || if is_worker { as_worker(|| add(&theirs)) } else { add(&theirs) });
        add(&lock);
        other.join().unwrap();
        assert_eq!(total(&lock), 3);
    });
}

/// Another thread comes for it in a choice.
fn owner_and_a_choice() {
    as_worker(|| {
        let lock = lock_of(LockOptions::new().biased(true));
        add(&lock);
        let theirs = lock.clone();
        let other =
            thread::spawn(move || theirs.lock_evt().poll().map_or(0, |guard| guard.unwrap().add(1).min(1)));
        add(&lock);
        let got = other.join().unwrap();
        assert_eq!(total(&lock), 2 + got);
    });
}

/// The owner holds the lock when another thread comes and gives up.
fn owner_lets_go_while_another_times_out() {
    as_worker(|| {
        let lock = lock_of(LockOptions::new().biased(true));
        let held = lock.lock().unwrap();
        let theirs = lock.clone();
        let other = thread::spawn(move || add_soon(&theirs));
        drop(held);
        let got = other.join().unwrap();
        assert_eq!(total(&lock), got);
    });
}

#[test]
fn the_owner_locks_while_another_does() {
    check_bounded(3, || owner_and_another(false));
    check_bounded(3, || owner_and_another(true));
    check_bounded(3, owner_and_a_choice);
}

#[test]
fn the_owner_unlocks_while_another_times_out() {
    check_bounded(3, owner_lets_go_while_another_times_out);
}

#[test]
fn an_owner_that_nobody_waits_for_is_caught() {
    must_fail(Broken::LineShare, owner_and_a_choice);
}

#[test]
fn two_threads_lock() {
    check(two);
}

#[test]
fn three_threads_lock() {
    check_bounded(2, || {
        let lock = lock();
        assert_eq!(spawn_each(&lock, &[add_one, add_one]), 2);
        assert_eq!(total(&lock), 2);
    });
}

#[test]
fn two_wait_for_one() {
    check_bounded(2, || two_behind_one(Order::Fifo));
    check_bounded(2, || two_behind_one(Order::Lifo));
}

#[test]
fn a_waiter_is_overtaken() {
    check_bounded(4, one_behind_two_turns);
    check_bounded(1, two_behind_two_turns);
}

#[test]
fn unlock_while_a_waiter_times_out() {
    check_bounded(4, time_out_against_unlock);
}

#[test]
fn one_of_two_waiters_times_out() {
    check_bounded(2, time_out_before_another);
}

#[test]
fn a_choice_of_two_locks() {
    check_bounded(3, choice);
}

#[test]
fn a_choice_between_two_unlocks_and_a_time_out() {
    check_bounded(2, choice_between_two);
}

#[test]
fn a_choice_that_is_decided_is_in_front() {
    check_bounded(2, stale_offer_before_a_thread);
}

#[test]
fn a_future_is_dropped_while_it_is_handed_the_lock() {
    check_bounded(1, future_goes);
}

#[test]
fn a_parasite_is_handed_the_lock() {
    check_bounded(3, || parasite(false, false));
    check_bounded(3, || parasite(true, false));
}

#[test]
fn a_parasite_is_cancelled_while_it_is_handed_the_lock() {
    check_bounded(3, || parasite(false, true));
    check_bounded(3, || parasite(true, true));
}

#[test]
fn an_edit_that_ends_without_order_is_caught() {
    must_fail(Broken::LineExit, || two_behind_one(Order::Fifo));
}

#[test]
fn a_waiter_that_does_not_look_when_it_queues_is_caught() {
    must_fail(Broken::LineBlind, one_behind_two_turns);
}

#[test]
fn one_who_came_again_without_a_word_is_caught() {
    must_fail(Broken::LineWoken, two_behind_two_turns);
}

#[test]
fn a_grant_that_is_kept_is_caught() {
    must_fail(Broken::LineKeep, future_goes);
}

#[test]
fn one_who_goes_instead_of_trying_is_caught() {
    must_fail(Broken::LinePass, time_out_before_another);
}

#[test]
fn a_stale_offer_that_is_not_let_go_is_caught() {
    must_fail(Broken::Stale, stale_offer_before_a_thread);
}

#[test]
fn a_parasite_that_is_notified_too_late_is_caught() {
    must_fail(Broken::GateNotify, || parasite(true, true));
}
