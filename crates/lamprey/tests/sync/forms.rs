//! A call of a lock has three forms: it blocks, it gives a future, or it gives an event. All three have one
//! result, and the types of the futures and events have names.

use crate::common::run;
use lamprey::event::{Event, FutureEvt};
use lamprey::sync::{
    AcquireEvt, Barrier, BarrierWaitFuture, Condvar, LazyLock, LazyLockForceFuture, LockEvt, LockOptions,
    Mutex, Once, OnceLock, OnceLockWaitFuture, OnceWaitFuture, Order, Reading, RwLock, RwLockEvt, Semaphore,
    Wake, Writing,
};
use lamprey::wait;
use std::fmt::Debug;

/// The array makes the three forms have one type.
#[track_caller]
fn all_give<T: PartialEq + Debug>(expected: T, forms: [T; 3]) {
    assert!(forms.iter().all(|form| *form == expected), "{forms:?}");
}

/// What is in the guard of each form, one after the other.
macro_rules! each {
    ($($form:expr),+) => { [$($form.map(|guard| *guard).ok()),+] };
}

#[test]
fn the_forms_of_a_call_have_one_result() {
    run(1, || {
        let mutex = Mutex::new(1);
        all_give(Some(1), each![mutex.lock(), wait(mutex.lock_async()), mutex.lock_evt().sync()]);
        let lock = RwLock::new(1);
        all_give(Some(1), each![lock.read(), wait(lock.read_async()), lock.read_evt().sync()]);
        all_give(Some(1), each![lock.write(), wait(lock.write_async()), lock.write_evt().sync()]);
        let permits = Semaphore::new(3);
        let got = [permits.acquire(1), wait(permits.acquire_async(1)), permits.acquire_evt(1).sync()];
        all_give(Ok(1), got.map(|permit| permit.map(|permit| permit.count())));
        let alone = Barrier::new(1);
        let passed = [alone.wait(), wait(alone.wait_async()), alone.wait_evt().sync()];
        all_give(true, passed.map(|result| result.is_leader()));
        let once = Once::new();
        once.call_once(|| {});
        all_give((), [once.wait(), wait(once.wait_async()), once.wait_evt().sync()]);
        let place = OnceLock::from(1);
        all_give(&1, [place.wait(), wait(place.wait_async()), place.wait_evt().sync()]);
        let forced = [
            LazyLock::force(&LazyLock::new(|| 1)).to_owned(),
            wait(LazyLock::force_async(&LazyLock::new(|| 1))).to_owned(),
            LazyLock::force_evt(&LazyLock::new(|| 1)).sync().to_owned(),
        ];
        all_give(1, forced);
    });
}

/// Futures and events can be fields of a program's own types.
#[test]
fn events_have_names() {
    let (mutex, lock, permits) = (Mutex::new(1), RwLock::new(1), Semaphore::new(1));
    let _: LockEvt<'_, u8> = mutex.lock_evt();
    let _: RwLockEvt<'_, u8, Reading> = lock.read_evt();
    let _: RwLockEvt<'_, u8, Writing> = lock.write_evt();
    let _: AcquireEvt<&Semaphore> = permits.acquire_evt(1);
    let (barrier, once, place) = (Barrier::new(1), Once::new(), OnceLock::<u8>::new());
    let _: FutureEvt<BarrierWaitFuture<'_>> = barrier.wait_evt();
    let _: FutureEvt<OnceWaitFuture<'_>> = once.wait_evt();
    let _: FutureEvt<OnceLockWaitFuture<'_, u8>> = place.wait_evt();
    let lazy: LazyLock<u8> = LazyLock::new(|| 1);
    let _: FutureEvt<LazyLockForceFuture<'_, u8, fn() -> u8>> = LazyLock::force_evt(&lazy);
}

#[test]
fn a_lazy_value_whose_future_waits_is_made_by_another() {
    run(1, || {
        static LAZY: LazyLock<u8> = LazyLock::new(|| {
            lamprey::yield_now();
            5
        });
        let first = lamprey::spawn(|| *LAZY);
        lamprey::yield_now();
        assert_eq!(wait(LazyLock::force_async(&LAZY)), &5);
        assert_eq!(first.join().unwrap(), 5);
    });
}

/// One value for all locks of a program: what a lock does not have, it ignores.
#[test]
fn options_are_for_all_locks() {
    const ALL: LockOptions = LockOptions::new().order(Order::Lifo).wake(Wake::Switch).biased(true);
    static MUTEX: Mutex<u8> = Mutex::with_options(1, ALL);
    static LOCK: RwLock<u8> = RwLock::with_options(1, ALL);
    static PERMITS: Semaphore = Semaphore::with_options(1, ALL);
    static CHANGED: Condvar = Condvar::with_options(ALL);
    run(2, || {
        let hosts: Vec<_> = (0..4)
            .map(|_| {
                lamprey::spawn(|| {
                    let _permit = PERMITS.acquire(1).unwrap();
                    *LOCK.write().unwrap() += 1;
                    *MUTEX.lock().unwrap() += 1;
                    CHANGED.notify_one();
                })
            })
            .collect();
        let all = CHANGED.wait_while(MUTEX.lock().unwrap(), |changed| *changed < 5).unwrap();
        assert_eq!(*all, 5);
        drop(all);
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*LOCK.read().unwrap(), 5);
    });
}
