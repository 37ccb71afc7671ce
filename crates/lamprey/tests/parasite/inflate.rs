//! Inflation, penalties, offering: how parasites that turn out to be long get to run in parallel.

use crate::common::{FOREVER, count, counter, eventually, run, tick, with_ever_longer, within};
use lamprey::parasite::{Parasite, inflate, reify};
use lamprey::{JoinError, Runtime, channel, parasite, parasite_fn, spawn};
use std::collections::HashSet;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Computes for so long that a slice of a millisecond is over.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn sliced(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).time_slice(Duration::from_millis(1)).build().unwrap()
}

#[test]
fn explicitly_a_stackless_one_gets_a_host_and_its_result_still_comes() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        runtime.run(|| {
            let (tx, rx) = channel();
            let handle = parasite(async move {
                let first = rx.recv_async().await.unwrap();
                inflate().await;
                first + rx.recv_async().await.unwrap() + rx.recv_async().await.unwrap()
            });
            (1..=3).for_each(|n| tx.send(n).unwrap());
            assert_eq!(handle.join().unwrap(), 6);
        });
        assert_eq!(
            runtime.stats().inflated,
            u64::from(workers > 1),
            "{workers} workers: one that cannot travel keeps its form"
        );
    }
}

#[test]
fn explicitly_a_stackful_one_goes_to_the_queue_and_its_spawner_goes_on() {
    run(1, || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let theirs = log.clone();
        let handle = parasite_fn(move || {
            theirs.lock().unwrap().push("parasite");
            inflate().sync();
            theirs.lock().unwrap().push("host");
        });
        log.lock().unwrap().push("spawner");
        handle.join().unwrap();
        assert_eq!(*log.lock().unwrap(), ["parasite", "spawner", "host"]);
    });
}

#[test]
fn where_there_is_nothing_to_inflate_nothing_happens() {
    let ready_at_once = || lamprey::wait(async { futures::poll!(inflate()).is_ready() });
    inflate().sync();
    assert!(ready_at_once());
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let inside = |ran: &AtomicUsize| {
        let (me, before) = (lamprey::current(), count(ran));
        inflate().sync();
        let now = lamprey::current();
        assert_eq!((now.id(), now.kind()), (me.id(), me.kind()));
        assert_eq!(count(ran), before, "no other host has had a turn");
    };
    runtime.run(|| {
        let ran = counter();
        let theirs = ran.clone();
        let other = spawn(move || tick(&theirs));
        inside(&ran);
        let theirs = ran.clone();
        let parasite = parasite(async move { inside(&theirs) });
        assert!(ready_at_once());
        parasite.join().unwrap();
        other.join().unwrap();
    });
    assert_eq!(runtime.stats().inflated, 0);
}

#[test]
fn asynchronously_a_reified_one_is_attached_by_a_new_host() {
    run(2, || {
        let slot: Arc<Mutex<Option<Parasite<u32>>>> = Arc::default();
        let theirs = slot.clone();
        let handle = parasite(async move { reify(|p| *theirs.lock().unwrap() = Some(p)).await + 1 });
        let reified = slot.lock().unwrap().take().unwrap();
        reified.prepare(41).spawn().join().unwrap();
        assert_eq!(handle.join().unwrap(), 42);
    });
}

#[test]
fn one_that_has_used_up_its_slice_makes_its_spawners_next_ones_hosts() {
    with_ever_longer("ten of them are hosts", |long| {
        let runtime = sliced(2);
        runtime.run(move || {
            let handles: Vec<_> = (0..11)
                .map(|_| {
                    parasite(async move {
                        compute(long);
                        lamprey::current().kind()
                    })
                })
                .collect();
            handles.into_iter().for_each(|handle| assert!(handle.join().is_ok()));
            let handles: Vec<_> = (0..11).map(|_| parasite_fn(move || compute(long))).collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
        });
        runtime.stats().inflated >= 10
    });
}

#[test]
fn turned_off_nothing_is_inflated() {
    let runtime = Runtime::builder()
        .workers(2)
        .time_slice(Duration::from_millis(1))
        .inflation(false)
        .offering(false)
        .build();
    let runtime = runtime.unwrap();
    runtime.run(|| {
        let handles: Vec<_> = (0..5).map(|_| parasite(async { compute(Duration::from_millis(5)) })).collect();
        assert!(handles.iter().all(lamprey::ParasiteHandle::is_finished));
        let stackful: Vec<_> = (0..5).map(|_| parasite_fn(|| compute(Duration::from_millis(5)))).collect();
        assert!(stackful.iter().all(lamprey::ParasiteHandle::is_finished));
    });
    let stats = runtime.stats();
    assert_eq!((stats.inflated, stats.offered), (0, 0));
}

#[test]
fn an_inflated_one_is_cancelled_by_its_handle_and_by_the_end_of_the_runtime() {
    for by_handle in [true, false] {
        within(FOREVER, move || {
            let (drops, begun) = (counter(), counter());
            let runtime = Runtime::builder().workers(2).build().unwrap();
            let (held, theirs) = (crate::common::Counted(drops.clone()), begun.clone());
            let handle = runtime.run(move || {
                let (tx, rx) = channel::<()>();
                parasite(async move {
                    let _held = held;
                    inflate().await;
                    tick(&theirs);
                    let _ = rx.recv_async().await;
                    drop(tx);
                })
            });
            eventually("inflated", || count(&begun) == 1);
            if by_handle {
                assert!(matches!(handle.cancel_and_join(), Err(JoinError::Cancelled(_))));
            } else {
                drop(runtime);
                assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
            }
            assert_eq!(count(&drops), 1);
        });
    }
}

/// A parasite for each call.
fn fib(n: u64, seen: &Arc<Mutex<HashSet<usize>>>) -> lamprey::ParasiteHandle<u64> {
    let seen = seen.clone();
    parasite(async move {
        if n == 12 {
            seen.lock().unwrap().insert(lamprey::current().worker().unwrap());
        }
        if n < 2 {
            return n;
        }
        let (a, b) = (fib(n - 1, &seen), fib(n - 2, &seen));
        a.await.unwrap() + b.await.unwrap()
    })
}

#[test]
fn a_worker_without_work_is_offered_parasites() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        // The other worker is awake, and idle, for as long as this lasts. (Some of it that worker takes by
        // itself.)
        let seen = Arc::default();
        let start = Instant::now();
        loop {
            assert_eq!(fib(20, &seen).join().unwrap(), 6765);
            let (both, offered) = (seen.lock().unwrap().len() == 2, runtime.stats().offered > 0);
            if both && offered {
                break;
            }
            assert!(start.elapsed() < FOREVER / 2, "run by both workers: {both}; offered: {offered}");
        }
        spawn(|| ()).join().unwrap();
    });
}

#[test]
fn long_parasites_are_given_away_one_after_the_other() {
    let runtime =
        Runtime::builder().workers(2).inflation(false).time_slice(Duration::from_millis(1)).build().unwrap();
    runtime.run(|| {
        let (home, elsewhere, start) = (lamprey::current().worker(), counter(), Instant::now());
        // The spawner never blocks, so the other worker takes what lies ready behind its back.
        while count(&elsewhere) < 5 {
            assert!(start.elapsed() < FOREVER / 2, "no more than {} ran elsewhere", count(&elsewhere));
            let elsewhere = elsewhere.clone();
            parasite(async move {
                compute(Duration::from_millis(5));
                if lamprey::current().worker() != home {
                    tick(&elsewhere);
                }
            })
            .detach();
        }
    });
}

#[test]
fn one_that_ends_at_once_is_seldom_kept_back_for_an_idle_worker() {
    run(2, || {
        let (mut spawned, mut kept_back, start) = (0u32, 0u32, Instant::now());
        while spawned < 100_000 || kept_back == 0 {
            assert!(start.elapsed() < FOREVER / 2, "the idle worker asks for nothing");
            let handle = parasite(async {});
            spawned += 1;
            kept_back += u32::from(!handle.is_finished());
            handle.join().unwrap();
        }
        assert!(kept_back < spawned / 10, "{kept_back} of {spawned} did not start at once");
    });
}
