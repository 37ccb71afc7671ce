//! All kinds of threads use the same variables.

use crate::common::awaiting::{Wakes, everywhere, in_tokio, poll};
use crate::common::{FOREVER, runtime, within};
use lamprey::stm::{TVar, atomically, atomically_async, check, retry};
use std::sync::Arc;

#[test]
fn awaited_everywhere() {
    everywhere(|| async {
        let ready = TVar::new(0);
        let theirs = ready.clone();
        let thread = std::thread::spawn(move || atomically(|tx| theirs.set(tx, 1)));
        atomically_async(|tx| check(ready.get(tx)? == 1)).await;
        thread.join().unwrap();
    });
}

/// A ring in which each kind of thread waits for the one before.
#[test]
fn hosts_parasites_tasks_and_os_threads_take_turns() {
    within(FOREVER, || {
        let turn = TVar::new(0usize);
        const ROUNDS: usize = 50;
        fn step(
            turn: &TVar<usize>,
            me: usize,
            tx: &mut lamprey::stm::Transaction,
        ) -> lamprey::stm::StmResult<()> {
            check(turn.get(tx)? % 4 == me)?;
            turn.modify(tx, |n| n + 1)
        }
        let of_os = turn.clone();
        let os = std::thread::spawn(move || (0..ROUNDS).for_each(|_| atomically(|tx| step(&of_os, 0, tx))));
        let of_tokio = turn.clone();
        let tokio = std::thread::spawn(move || {
            in_tokio(async {
                for _ in 0..ROUNDS {
                    atomically_async(|tx| step(&of_tokio, 1, tx)).await;
                }
            });
        });
        let ours = turn.clone();
        runtime(2).run(move || {
            let of_parasite = ours.clone();
            let parasite = lamprey::parasite(async move {
                for _ in 0..ROUNDS {
                    atomically_async(|tx| step(&of_parasite, 2, tx)).await;
                }
            });
            let host = lamprey::spawn(move || (0..ROUNDS).for_each(|_| atomically(|tx| step(&ours, 3, tx))));
            parasite.join().unwrap();
            host.join().unwrap();
        });
        os.join().unwrap();
        tokio.join().unwrap();
        assert_eq!(turn.get_now(), 4 * ROUNDS);
    });
}

#[test]
fn a_stackful_parasite_waits() {
    within(FOREVER, || {
        runtime(1).run(|| {
            let ready = TVar::new(false);
            let theirs = ready.clone();
            let parasite = lamprey::parasite_fn(move || atomically(|tx| check(theirs.get(tx)?)));
            atomically(|tx| ready.set(tx, true));
            parasite.join().unwrap();
        });
    });
}

#[test]
fn a_future_that_is_dropped_leaves_nothing() {
    let count = Arc::new(());
    let value = TVar::new(count.clone());
    let (wakes, waker) = Wakes::new();
    let theirs = value.clone();
    let mut future = Box::pin(atomically_async(move |tx| {
        theirs.set(tx, Arc::new(()))?;
        theirs.get(tx)?;
        retry::<()>()
    }));
    // It has read only what it has written.
    let panics =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut future, &waker).is_ready()));
    assert!(panics.is_err());
    drop(future);
    let theirs = value.clone();
    let mut future = Box::pin(atomically_async(move |tx| theirs.get(tx).and(retry::<()>())));
    assert!(poll(&mut future, &waker).is_pending());
    atomically(|tx| value.set(tx, count.clone()));
    assert_eq!(wakes.count(), 1);
    assert!(poll(&mut future, &waker).is_pending());
    drop(future);
    atomically(|tx| value.set(tx, count.clone()));
    assert_eq!(wakes.count(), 1);
    drop(value);
    assert_eq!(Arc::strong_count(&count), 1);
}

/// More kernel threads than seats: the last ones share one.
#[test]
fn four_hundred_kernel_threads() {
    within(FOREVER, || {
        let (counter, all_here) = (TVar::new(0u32), Arc::new(std::sync::Barrier::new(400)));
        let start = |_| {
            let (counter, all_here) = (counter.clone(), all_here.clone());
            std::thread::Builder::new()
                .stack_size(64 << 10)
                .spawn(move || {
                    atomically(|tx| counter.modify(tx, |n| n + 1));
                    all_here.wait();
                    (0..20).for_each(|_| atomically(|tx| counter.modify(tx, |n| n + 1)));
                    drop(TVar::new(String::from("x")));
                })
                .unwrap()
        };
        let threads: Vec<_> = (0..400).map(start).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(counter.get_now(), 400 * 21);
    });
}
