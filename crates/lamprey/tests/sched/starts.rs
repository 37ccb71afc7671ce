//! Parasites that end at once are calls, but a host that makes nothing but such calls gives way: at a join.
//! Never at a start.

use crate::common::beside::{compute, serves_others};
use crate::common::{run, run_at_once};
use lamprey::{parasite, parasite_fn, parasite_fn_local, parasite_local, wait};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// One that ends at once is a call, but who makes nothing but such calls is not served for ever either.
#[test]
fn parasites_alone() {
    fn nested(depth: u32) {
        if depth != 0 {
            parasite_fn(move || nested(depth - 1)).join().unwrap();
        }
    }
    serves_others(|| Box::new(|| parasite(async {}).join().unwrap()));
    serves_others(|| Box::new(|| parasite_local(async {}).join().unwrap()));
    serves_others(|| Box::new(|| parasite_fn(|| {}).join().unwrap()));
    serves_others(|| Box::new(|| parasite_fn_local(|| {}).join().unwrap()));
    serves_others(|| Box::new(|| nested(10)));
    // Of any length.
    serves_others(|| Box::new(|| parasite(async { compute(4000) }).join().unwrap()));
    serves_others(|| Box::new(|| parasite_fn(|| compute(6000)).join().unwrap()));
    serves_others(|| {
        Box::new(|| {
            let all: Vec<_> = (0..100).map(|_| parasite_fn(|| compute(20))).collect();
            all.into_iter().for_each(|one| one.join().unwrap());
        })
    });
    serves_others(|| Box::new(|| wait(parasite(async { parasite(async {}).await.unwrap() })).unwrap()));
    serves_others(|| {
        Box::new(|| {
            lamprey::scope(|scope| {
                scope.parasite(async {});
            })
        })
    });
}

/// However long a host starts them: a parasite that never blocks is over when its start returns.
#[test]
fn every_parasite_starts_at_once() {
    // One that the system holds up for a time slice makes hosts of the next ones elsewhere.
    run_at_once(1, || {
        let until = Instant::now() + Duration::from_millis(100);
        while Instant::now() < until {
            assert!(parasite(async {}).is_finished());
            assert!(parasite_local(async {}).is_finished());
            assert!(parasite_fn_local(|| {}).is_finished());
        }
    });
}

/// A start never switches, not even from a stackful parasite that has computed for long: here another host
/// would wait for the lock on the kernel thread of its holder.
#[test]
fn a_long_parasite_that_starts_another_keeps_the_worker() {
    run(1, || {
        let lock = Arc::new(std::sync::Mutex::new(0));
        for _ in 0..3 {
            let theirs = lock.clone();
            let long = parasite_fn(move || {
                let mut held = theirs.lock().unwrap();
                compute(60_000);
                parasite(async {}).detach();
                parasite_fn(|| {}).detach();
                *held += 1;
            });
            drop(lock.lock().unwrap());
            long.join().unwrap();
        }
        assert_eq!(*lock.lock().unwrap(), 3);
    });
}

/// Nor from a waker that it calls.
#[test]
fn a_waker_that_starts_a_parasite_keeps_the_worker() {
    struct Starts(Arc<AtomicU32>);
    impl std::task::Wake for Starts {
        fn wake(self: Arc<Self>) {
            let before = self.0.load(Ordering::Relaxed);
            parasite(async {}).detach();
            assert_eq!(self.0.load(Ordering::Relaxed), before, "others ran within the waker");
        }
    }
    run(1, || {
        let others = Arc::new(AtomicU32::new(0));
        let (tx, rx) = lamprey::bounded::<u32>(1);
        let waker = std::task::Waker::from(Arc::new(Starts(others.clone())));
        let mut waits = std::pin::pin!(rx.recv_async());
        assert!(waits.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        let long = parasite_fn(move || {
            compute(60_000);
            tx.send(1).unwrap();
        });
        others.fetch_add(1, Ordering::Relaxed);
        long.join().unwrap();
    });
}
