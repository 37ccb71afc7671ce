//! Condition variables, by the moment: a notification reaches one who waits, and nobody wakes without one.

use crate::common::{run, runtime};
use lamprey::sync::{Condvar, LockError, LockOptions, Mutex, Order};
use lamprey::{parasite, spawn, yield_now};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);

type Shared<T> = Arc<(Mutex<T>, Condvar)>;

fn shared<T>(value: T) -> Shared<T> {
    Arc::new((Mutex::new(value), Condvar::new()))
}

fn settle() {
    (0..10).for_each(|_| yield_now());
}

/// Hosts that wait once each, and say so.
fn waiters(shared: &Shared<Vec<u32>>, count: u32) -> Vec<lamprey::JoinHandle<()>> {
    (0..count)
        .map(|n| {
            let theirs = shared.clone();
            let host = spawn(move || {
                let mut guard = theirs.1.wait(theirs.0.lock().unwrap()).unwrap();
                guard.push(n);
            });
            settle();
            host
        })
        .collect()
}

#[test]
fn each_notification_wakes_one_in_order() {
    for (order, expected) in [(Order::Fifo, [0, 1, 2]), (Order::Lifo, [2, 1, 0])] {
        run(1, move || {
            let shared: Shared<Vec<u32>> =
                Arc::new((Mutex::new(Vec::new()), Condvar::with_options(LockOptions::new().order(order))));
            let hosts = waiters(&shared, 3);
            for n in 1..=3 {
                shared.1.notify_one();
                settle();
                assert_eq!(*shared.0.lock().unwrap(), expected[..n]);
            }
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
    }
}

#[test]
fn all_are_notified_however_many() {
    run(1, || {
        let shared = shared(Vec::new());
        let hosts = waiters(&shared, 100);
        shared.1.notify_all();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(shared.0.lock().unwrap().len(), 100);
    });
}

#[test]
fn a_notification_without_a_waiter_is_forgotten() {
    run(1, || {
        let shared = shared(Vec::new());
        shared.1.notify_one();
        shared.1.notify_all();
        let hosts = waiters(&shared, 1);
        assert!(shared.0.lock().unwrap().is_empty(), "it must wait");
        shared.1.notify_one();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn who_comes_after_notify_all_waits_on() {
    run(1, || {
        let shared = shared(Vec::new());
        let first = waiters(&shared, 20);
        shared.1.notify_all();
        let late = shared.clone();
        let host = spawn(move || {
            let (_guard, result) = late.1.wait_timeout(late.0.lock().unwrap(), SOON).unwrap();
            result.timed_out()
        });
        assert!(host.join().unwrap());
        first.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn a_cancelled_waiter_does_not_take_the_mutex_and_its_notification_goes_to_the_next() {
    run(1, || {
        let shared = shared(Vec::new());
        let mut hosts = waiters(&shared, 2);
        let second = hosts.pop().unwrap();
        let first = hosts.pop().unwrap();
        let guard = shared.0.lock().unwrap();
        shared.1.notify_one();
        first.cancel();
        settle(); // it unwinds although the mutex is held
        drop(guard);
        let _ = first.join();
        second.join().unwrap();
        assert_eq!(*shared.0.lock().unwrap(), [1]);
        assert!(!shared.0.is_poisoned());
    });
}

#[test]
fn a_host_is_cancelled_while_it_takes_the_mutex_again() {
    run(1, || {
        let shared = shared(Vec::new());
        let mut hosts = waiters(&shared, 2);
        let second = hosts.pop().unwrap();
        let first = hosts.pop().unwrap();
        let guard = shared.0.lock().unwrap();
        shared.1.notify_one();
        settle(); // it waits for the mutex now
        first.cancel();
        settle();
        drop(guard);
        let _ = first.join();
        second.join().unwrap();
        assert_eq!(*shared.0.lock().unwrap(), [1]);
    });
}

#[test]
fn notify_while_a_waiter_times_out() {
    run(2, || {
        for n in 0..200 {
            let shared = shared(0);
            let (theirs, other) = (shared.clone(), shared.clone());
            let leaver = spawn(move || {
                let guard = theirs.0.lock().unwrap();
                let (_guard, result) = theirs.1.wait_timeout(guard, Duration::from_micros(n * 2)).unwrap();
                !result.timed_out()
            });
            let waiter = spawn(move || {
                let mut guard = other.1.wait_while(other.0.lock().unwrap(), |number| *number == 0).unwrap();
                *guard -= 1;
            });
            lamprey::sleep(Duration::from_micros(n * 2));
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
            if leaver.join().unwrap() {
                shared.1.notify_one();
            }
            waiter.join().unwrap();
        }
    });
}

#[test]
fn a_limited_wait_for_a_condition() {
    run(1, || {
        let shared = shared(0);
        let guard = shared.0.lock().unwrap();
        let (guard, result) = shared.1.wait_timeout_while(guard, SOON, |number| *number == 0).unwrap();
        assert!(result.timed_out());
        let (guard, result) = shared.1.wait_timeout_while(guard, SOON, |number| *number != 0).unwrap();
        assert!(!result.timed_out());
        drop(guard);
    });
}

#[test]
fn a_host_that_unwinds_does_not_wait() {
    struct Waits(Shared<()>, Arc<AtomicUsize>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let refused = matches!(self.0.1.wait(self.0.0.lock().unwrap()), Err(LockError::Unwinding));
            self.1.store(usize::from(refused), Ordering::Relaxed);
        }
    }
    run(1, || {
        let refused = Arc::new(AtomicUsize::new(0));
        let shared = shared(());
        let waits = Waits(shared.clone(), refused.clone());
        let host = spawn(move || {
            let _waits = waits;
            panic!("on purpose");
        });
        assert!(host.join().is_err());
        assert_eq!(refused.load(Ordering::Relaxed), 1);
        assert!(shared.0.try_lock().is_ok());
    });
}

#[test]
fn a_parasite_waits_and_is_cancelled_with_a_notification() {
    run(1, || {
        let shared = shared(Vec::new());
        let theirs = shared.clone();
        let waits = parasite(async move {
            let guard = theirs.0.lock_async().await.unwrap();
            theirs.1.wait_async(guard).await.unwrap().push(100);
        });
        let hosts = waiters(&shared, 1);
        let guard = shared.0.lock().unwrap();
        shared.1.notify_one(); // the parasite's
        let _ = waits.cancel_and_join();
        drop(guard);
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*shared.0.lock().unwrap(), [0]);
    });
}

#[test]
fn a_task_of_another_executor_waits_for_the_mutex_that_a_wait_lets_go() {
    run(1, || {
        let shared = shared(0);
        let theirs = shared.clone();
        let mut guard = shared.0.lock().unwrap();
        let task = crate::common::blocked_os(move || {
            futures::executor::block_on(async move {
                *theirs.0.lock_async().await.unwrap() += 1;
                theirs.1.notify_one();
            });
        });
        guard = shared.1.wait_while(guard, |number| *number == 0).unwrap();
        assert_eq!(*guard, 1);
        drop(guard);
        task.join().unwrap();
    });
}

/// The bounded queue of the papers.
struct Bounded {
    queue: Mutex<VecDeque<usize>>,
    not_empty: Condvar,
    not_full: Condvar,
}

impl Bounded {
    fn put(&self, value: usize) {
        let guard = self.queue.lock().unwrap();
        let mut guard = self.not_full.wait_while(guard, |queue| queue.len() == 10).unwrap();
        guard.push_back(value);
        drop(guard);
        self.not_empty.notify_one();
    }

    fn take(&self) -> usize {
        let guard = self.queue.lock().unwrap();
        let mut guard = self.not_empty.wait_while(guard, |queue| queue.is_empty()).unwrap();
        let value = guard.pop_front().unwrap();
        drop(guard);
        self.not_full.notify_one();
        value
    }
}

#[test]
fn producers_and_consumers_of_two_runtimes_and_os_threads() {
    const EACH: usize = 3000;
    let bounded =
        Arc::new(Bounded { queue: Mutex::default(), not_empty: Condvar::new(), not_full: Condvar::new() });
    let sum = Arc::new(AtomicUsize::new(0));
    let consume = {
        let (bounded, sum) = (bounded.clone(), sum.clone());
        move || {
            (0..EACH).for_each(|_| {
                sum.fetch_add(bounded.take(), Ordering::Relaxed);
            });
        }
    };
    let produce = move || (1..=EACH).for_each(|value| bounded.put(value));
    let threads = [1, 2].map(|workers| {
        let (produce, consume) = (produce.clone(), consume.clone());
        std::thread::spawn(move || {
            runtime(workers).run(move || {
                let hosts = [spawn(produce.clone()), spawn(consume.clone()), spawn(produce), spawn(consume)];
                hosts.into_iter().for_each(|host| host.join().unwrap());
            });
        })
    });
    let producer = std::thread::spawn(produce);
    consume();
    producer.join().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(sum.load(Ordering::Relaxed), 5 * EACH * (EACH + 1) / 2);
}
