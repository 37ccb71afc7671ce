//! `block_async`: calls that can only block, from async code, dropped at every moment.

use crate::common::awaiting::*;
use crate::common::*;
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::join_all;
use lamprey::{Runtime, block, block_async, wait, with_timeout_async};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn pool_of_one() -> Runtime {
    Runtime::builder().workers(1).blocking_threads(1).build().unwrap()
}

/// Occupies the one pool thread of `runtime` until the sender is dropped.
fn occupy(runtime: &Runtime) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    drop(runtime.handle().spawn(move || {
        block(move || {
            begin.send(()).unwrap();
            let _ = released.recv();
        })
    }));
    begun.recv().unwrap();
    release
}

#[test]
fn it_runs_elsewhere_and_gives_its_value() {
    let here = || thread::current().id();
    let outer = here();
    within(FOREVER, move || {
        runtime(1).run(|| {
            let outer = thread::current().id();
            assert_ne!(wait(block_async(here)), outer);
        });
        assert_ne!(block_on(block_async(here)), outer);
        assert_ne!(in_tokio(block_async(here)), outer);
    });
}

#[test]
fn it_needs_no_send_of_anything_but_the_call() {
    drop(is_send(block_async(|| 1)));
}

#[test]
fn a_thousand_calls_at_once() {
    everywhere(|| async {
        let calls = (0..1000).map(|n| block_async(move || n * 2));
        assert_eq!(join_all(calls).await.into_iter().sum::<u32>(), 999_000);
    });
}

#[test]
fn the_others_go_on_meanwhile() {
    within(FOREVER, || {
        let runtime = pool_of_one();
        runtime.run(|| {
            let (put, take) = mpsc::channel();
            let caller = blocked(move || wait(block_async(move || take.recv().unwrap())));
            put.send(3).unwrap();
            assert_eq!(caller.join().unwrap(), 3);
        });
    });
}

#[test]
fn a_panic_comes_out_at_the_await() {
    everywhere(|| async {
        let panics = block_async(|| -> () { std::panic::resume_unwind(Box::new(7_u8)) });
        let payload = AssertUnwindSafe(panics).catch_unwind().await.unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&7_u8));
        assert_eq!(block_async(|| 1).await, 1, "the pool is as it was");
    });
}

#[test]
fn within_a_call_it_runs_in_place() {
    let (outer, inner) = within(FOREVER, || {
        let runtime = pool_of_one();
        runtime.run(|| {
            // There is no second thread that it could wait for.
            block(|| (thread::current().id(), block_on(block_async(|| thread::current().id()))))
        })
    });
    assert_eq!(outer, inner);
}

#[test]
fn dropped_before_its_first_poll_it_is_not_made() {
    let (made, drops) = (counter(), counter());
    drop(counted_call(&made, &drops));
    assert_eq!((count(&made), count(&drops)), (0, 2));
}

/// A call that counts in the first, and drops a captured value and a result that count in the second.
fn counted_call(
    made: &Arc<AtomicUsize>,
    drops: &Arc<AtomicUsize>,
) -> Pin<Box<dyn Future<Output = Counted> + Send>> {
    let (made, captured, result) = (made.clone(), Counted(drops.clone()), Counted(drops.clone()));
    Box::pin(block_async(move || {
        drop(captured);
        tick(&made);
        result
    }))
}

#[test]
fn dropped_while_it_is_queued_it_is_not_made() {
    within(FOREVER, || {
        let runtime = pool_of_one();
        let release = occupy(&runtime);
        let (made, drops) = (counter(), counter());
        let ((wakes, waker), mut call) = (Wakes::new(), counted_call(&made, &drops));
        runtime.run(|| assert!(poll(&mut call, &waker).is_pending()));
        drop((call, waker));
        assert_eq!((count(&drops), Arc::strong_count(&wakes)), (2, 1), "at once");
        drop(release);
        assert_eq!(runtime.run(|| block(|| 1)), 1); // behind it in the queue
        assert_eq!((count(&made), wakes.count()), (0, 0));
    });
}

#[test]
fn dropped_while_it_runs_it_runs_on_and_its_result_is_dropped() {
    everywhere(|| async {
        let drops = counter();
        let result = Counted(drops.clone());
        let (go, gone) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut call = Box::pin(block_async(move || {
            begin.send(()).unwrap();
            gone.recv().unwrap();
            result
        }));
        let (_, waker) = Wakes::new();
        // On a pool's own thread it would run in the poll.
        if poll_elsewhere(&mut call, &waker) {
            begun.recv().unwrap();
            drop(call);
            assert_eq!(count(&drops), 0);
            go.send(()).unwrap();
            eventually("the result is dropped", || count(&drops) == 1);
        }
    });
}

/// Polls, unless the call would be made here and now.
fn poll_elsewhere<F: Future>(call: &mut Pin<Box<F>>, waker: &std::task::Waker) -> bool {
    let on_a_pool = thread::current().name() == Some("lamprey-pool");
    !on_a_pool && poll(call, waker).is_pending()
}

#[test]
fn dropped_when_it_is_done_its_result_is_dropped() {
    within(FOREVER, || {
        let runtime = pool_of_one();
        let release = occupy(&runtime);
        let (made, drops) = (counter(), counter());
        let ((wakes, waker), mut call) = (Wakes::new(), counted_call(&made, &drops));
        runtime.run(|| assert!(poll(&mut call, &waker).is_pending()));
        drop(release);
        eventually("it is done", || wakes.count() == 1);
        assert_eq!((count(&made), count(&drops)), (1, 1));
        drop(call);
        assert_eq!(count(&drops), 2);
    });
}

#[test]
fn a_result_whose_destructor_panics_does_not_end_the_pool() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    }
    within(FOREVER, || {
        let runtime = pool_of_one();
        let (go, gone) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut call = Box::pin(block_async(move || {
            begin.send(()).unwrap();
            let _ = gone.recv();
            Panics
        }));
        let (_, waker) = Wakes::new();
        runtime.run(|| assert!(poll(&mut call, &waker).is_pending()));
        begun.recv().unwrap();
        drop((call, go));
        assert_eq!(runtime.run(|| block(|| 1)), 1);
    });
}

#[test]
fn a_time_limit_ends_the_waiting() {
    run(1, || {
        let (go, gone) = mpsc::channel::<()>();
        let call = block_async(move || gone.recv());
        assert!(wait(with_timeout_async(Duration::from_millis(1), call)).is_err());
        drop(go);
    });
}

#[test]
fn a_runtime_that_ends_finishes_the_calls_of_futures_that_live_on() {
    within(FOREVER, || {
        let runtime = pool_of_one();
        let (_, waker) = Wakes::new();
        let mut calls = [1, 2, 3].map(|n| {
            Box::pin(block_async(move || {
                thread::sleep(Duration::from_millis(3));
                n
            }))
        });
        runtime.run(|| calls.iter_mut().for_each(|call| assert!(poll(call, &waker).is_pending())));
        drop(runtime);
        assert_eq!(block_on(join_all(calls)), [1, 2, 3]);
    });
}

#[test]
fn calls_race_with_being_dropped() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (made, drops) = (counter(), counter());
        let done = AtomicUsize::new(0);
        for n in 0..2000 {
            let mut call = counted_call(&made, &drops);
            let (_, waker) = Wakes::new();
            runtime.run(|| drop(poll(&mut call, &waker)));
            (0..n % 50).for_each(|_| std::hint::spin_loop());
            drop(call);
            done.fetch_add(2, Ordering::SeqCst);
        }
        drop(runtime);
        assert_eq!(count(&drops), 4000, "each captured value and each result, once");
    });
}
