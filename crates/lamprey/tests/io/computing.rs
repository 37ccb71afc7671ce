//! Computations on threads of their own, and with rayon.

use crate::common::awaiting::everywhere;
use crate::common::*;
use lamprey::event::{Event, choose, timeout};
use lamprey::{Runtime, compute, compute_async, compute_evt};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

fn with_threads<T: Send + 'static>(threads: usize, main: impl FnOnce() -> T + Send + 'static) -> T {
    within(FOREVER, move || Runtime::builder().workers(1).compute_threads(threads).build().unwrap().run(main))
}

#[test]
fn it_borrows_runs_elsewhere_and_the_worker_goes_on() {
    with_threads(1, || {
        let here = thread::current().id();
        let mut seen = None;
        let (put, take) = mpsc::channel();
        // Begun on this worker while the computation waits for it.
        lamprey::spawn(move || put.send(3).unwrap());
        let sum = compute(|| {
            let take = take;
            seen = Some(thread::current().id());
            take.recv().unwrap() + 4
        });
        assert_eq!(sum, 7);
        assert!(seen.is_some_and(|there| there != here));
    });
}

#[test]
fn as_many_at_a_time_as_there_are_threads() {
    with_threads(3, || {
        let (running, most, together) = (counter(), counter(), Arc::new(Barrier::new(3)));
        let first = counter();
        let hosts: Vec<_> = (0..30)
            .map(|_| {
                let (running, most, first, together) =
                    (running.clone(), most.clone(), first.clone(), together.clone());
                lamprey::spawn(move || {
                    compute(move || {
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        if first.fetch_add(1, Ordering::SeqCst) < 3 {
                            together.wait();
                        }
                        running.fetch_sub(1, Ordering::SeqCst);
                    })
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!((count(&most), here().stats().compute.threads), (3, 3));
    });
}

#[test]
fn a_panic_reaches_the_caller() {
    with_threads(1, || {
        let payload = catch_unwind(AssertUnwindSafe(|| compute(|| std::panic::panic_any(7_u8)))).unwrap_err();
        assert_eq!(payload.downcast_ref::<u8>(), Some(&7));
        let host = lamprey::spawn(|| compute(|| -> () { panic!("in the computation") }));
        let error = host.join().unwrap_err().to_string();
        assert!(error.contains("in the computation"), "{error}");
        assert_eq!(compute(|| 1), 1);
    });
}

#[test]
fn cancelled_it_is_taken_back_or_runs_to_its_end() {
    with_threads(1, || {
        let (let_go, held_up) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let ends = counter();
        let end = ends.clone();
        let runs = blocked(move || {
            compute(move || {
                begin.send(()).unwrap();
                let _ = held_up.recv();
                tick(&end);
            });
        });
        begun.recv().unwrap();
        let made = counter();
        let makes = made.clone();
        let waits = blocked(move || compute(move || tick(&makes)));
        runs.cancel();
        waits.cancel();
        assert!(waits.join().is_err());
        assert!(!runs.is_finished());
        drop(let_go);
        // It has its value, and no blocking call after it.
        runs.join().unwrap();
        assert_eq!((count(&ends), count(&made)), (1, 0));
    });
}

#[test]
fn in_async_code() {
    everywhere(|| async {
        assert_eq!(compute_async(|| 6 * 7).await, 42);
        let here = thread::current().id();
        let there = compute_async(|| thread::current().id()).await;
        let on_a_pool = thread::current().name().is_some_and(|name| name.starts_with("lamprey-"));
        assert!(there != here || on_a_pool);
    });
}

#[test]
fn an_event_that_is_not_chosen_is_taken_back_if_it_has_not_begun() {
    with_threads(1, || {
        let computed = compute_evt(|| 1).wrap(Some);
        assert_eq!(choose((computed, timeout(FOREVER).wrap(|()| None))).sync(), Some(1));
        let (let_go, held_up) = mpsc::channel::<()>();
        let occupies = blocked(move || compute(move || held_up.recv()));
        let made = counter();
        let makes = made.clone();
        let late = compute_evt(move || tick(&makes)).wrap(|()| true);
        assert!(!choose((late, timeout(Duration::from_millis(5)).wrap(|()| false))).sync());
        assert_eq!(here().stats().compute.queued, 0);
        drop(let_go);
        assert!(occupies.join().unwrap().is_err());
        assert_eq!((compute(|| 2), count(&made)), (2, 0));
    });
}

fn rayons_own() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
}

#[test]
fn rayon_within_a_computation_while_other_hosts_run() {
    with_threads(1, || {
        let pool = rayons_own();
        let (put, take) = mpsc::channel();
        let take = std::sync::Mutex::new(take);
        let others = lamprey::spawn(move || {
            for n in 0..100_u64 {
                lamprey::yield_now();
                put.send(n).unwrap();
            }
        });
        // Each part waits for a host of the one worker: which therefore is not held up.
        let sum = compute(|| {
            pool.install(|| {
                (0..100).into_par_iter().map(|_| take.lock().unwrap().recv().unwrap()).sum::<u64>()
            })
        });
        assert_eq!(sum, 4950);
        others.join().unwrap();
    });
}

#[test]
fn rayon_called_by_a_host_is_right_and_holds_up_its_worker() {
    run(1, || {
        let pool = rayons_own();
        let progress = Arc::new(AtomicUsize::new(0));
        let theirs = progress.clone();
        let other = lamprey::spawn(move || tick(&theirs));
        let before = count(&progress);
        let (a, b) = pool.join(|| (0..1000_u64).sum::<u64>(), || (0..1000_u64).into_par_iter().max());
        assert_eq!((a, b), (499_500, Some(999)));
        // No scheduling point in between, so nobody has run.
        assert_eq!(count(&progress), before);
        other.join().unwrap();
    });
}

#[test]
fn rayons_threads_use_channels_as_any_os_thread() {
    with_threads(1, || {
        let (tx, rx) = lamprey::channel::<u64>();
        let consumer = lamprey::spawn(move || rx.iter().sum::<u64>());
        let pool = rayons_own();
        compute(|| pool.install(|| (0..1000_u64).into_par_iter().for_each(|n| tx.send(n).unwrap())));
        drop(tx);
        assert_eq!(consumer.join().unwrap(), 499_500);
    });
}

#[test]
fn a_panic_of_rayon_reaches_the_host() {
    with_threads(1, || {
        let pool = rayons_own();
        let host = lamprey::spawn(move || {
            compute(|| pool.install(|| (0..10).into_par_iter().for_each(|n| assert_ne!(n, 7, "on purpose"))))
        });
        assert!(host.join().unwrap_err().to_string().contains("on purpose"));
    });
}
