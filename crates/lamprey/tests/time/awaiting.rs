//! Sleeping and time limits of futures, wherever they are polled and dropped.

use crate::common::awaiting::*;
use crate::common::*;
use futures::executor::block_on;
use futures::future::join_all;
use lamprey::{Sleep, TimedOut, sleep_async, spawn, wait, with_timeout_async};
use std::future::{pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

fn milliseconds(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn never_early() {
    everywhere(|| async {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20 {
            let length = Duration::from_nanos(random.u64(0..3_000_000));
            let start = Instant::now();
            sleep_async(length).await;
            let passed = start.elapsed();
            assert!(passed >= length, "{passed:?} instead of {length:?}");
        }
    });
}

#[test]
fn ten_thousand_at_once() {
    everywhere(|| async {
        let start = Instant::now();
        let one = |n: u64| async move {
            let length = Duration::from_micros(n * 2_654_435_761 % 50_000);
            sleep_async(length).await;
            assert!(start.elapsed() >= length);
        };
        join_all((0..10_000).map(one)).await;
    });
}

#[test]
fn the_time_counts_from_the_call() {
    everywhere(|| async {
        let start = Instant::now();
        let sleeps = [3, 1, 2].map(|n| sleep_async(milliseconds(10 * n)));
        thread::sleep(milliseconds(30));
        let (_, waker) = Wakes::new();
        for sleep in sleeps {
            assert!(poll(&mut Box::pin(sleep), &waker).is_ready(), "after {:?}", start.elapsed());
        }
    });
}

#[test]
fn no_time_at_all_and_more_than_the_clock_can_say() {
    everywhere(|| async {
        sleep_async(Duration::ZERO).await;
        for never in [Duration::MAX, Duration::from_secs(1 << 40)] {
            assert_eq!(with_timeout_async(milliseconds(2), sleep_async(never)).await, Err(TimedOut));
        }
    });
}

#[test]
fn sleepers_wake_hosts_and_hosts_wake_sleepers_on_one_worker() {
    run(1, || {
        let sleepers: Vec<_> =
            (0..50).map(|n| spawn(move || wait(sleep_async(milliseconds(n % 7))))).collect();
        lamprey::sleep(milliseconds(3));
        sleepers.into_iter().for_each(|host| host.join().unwrap());
    });
}

/// A sleep that has been polled on a worker of `runtime`.
fn polled_on(runtime: &lamprey::Runtime, length: Duration, waker: std::task::Waker) -> Pin<Box<Sleep>> {
    runtime.run(move || {
        let mut sleep = Box::pin(sleep_async(length));
        let _pending_unless_the_machine_is_slow = poll(&mut sleep, &waker);
        sleep
    })
}

#[test]
fn dropped_before_its_first_poll() {
    const NAME: &str = "dropped_before_its_first_poll";
    if role().is_none() {
        // In a process of its own: no other test starts kernel threads there.
        let (output, text) = rerun(NAME, "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    let kernel_threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = kernel_threads();
    let (ran, drops) = (counter(), counter());
    let (theirs, held) = (ran.clone(), Counted(drops.clone()));
    let limited = async move {
        let _held = held;
        tick(&theirs);
    };
    drop(is_send(sleep_async(HOUR)));
    drop(is_send(with_timeout_async(HOUR, limited)));
    assert_eq!((count(&ran), count(&drops)), (0, 1));
    assert_eq!(kernel_threads(), before, "no timer has been set: no thread keeps the time");
    // It is the first poll that sets one.
    let mut polled = Box::pin(with_timeout_async(HOUR, pending::<()>()));
    assert!(poll(&mut polled, &Wakes::new().1).is_pending());
    assert!(kernel_threads() > before);
}

#[test]
fn ten_thousand_dropped_on_another_thread_leave_nothing_behind() {
    let runtime = runtime(1);
    let (wakes, waker) = Wakes::new();
    // Two that are dropped at home, while others are dropped elsewhere.
    let (far, near) =
        (polled_on(&runtime, HOUR, waker.clone()), polled_on(&runtime, milliseconds(500), waker.clone()));
    let sleeps: Vec<_> =
        (0..10_000).map(|n| polled_on(&runtime, HOUR + milliseconds(n), waker.clone())).collect();
    drop(waker);
    let dropper = thread::spawn(move || drop(sleeps));
    runtime.run(move || drop(far));
    dropper.join().unwrap();
    eventually("the one that is left has rung", || wakes.count() == 1);
    eventually("no waker of the others is left", || Arc::strong_count(&wakes) == 1);
    drop(near);
    // The worker has nothing to wake up for: a timer that was left would hold it up here, or crash it.
    drop(runtime);
}

#[test]
fn dropped_while_it_fires() {
    within(FOREVER, || {
        let runtime = runtime(2);
        for round in 0..20 {
            let (wakes, waker) = Wakes::new();
            let sleeps: Vec<_> =
                (0..50).map(|n| polled_on(&runtime, Duration::from_micros(n * 20), waker.clone())).collect();
            thread::sleep(Duration::from_micros(round * 100));
            drop(sleeps);
            drop(waker);
            // A worker may have taken some out, and not have come to wake them yet.
            eventually("no waker is left", || Arc::strong_count(&wakes) == 1);
        }
    });
}

#[test]
fn polled_again_it_wakes_only_the_last_waker() {
    let runtime = runtime(1);
    let ((first, one), (second, two)) = (Wakes::new(), Wakes::new());
    let mut sleep = polled_on(&runtime, milliseconds(20), one);
    // May be ready by now, on a machine that is slow.
    let pending = poll(&mut sleep, &two).is_pending();
    if pending {
        assert_eq!(Arc::strong_count(&first), 1, "let go");
        eventually("the second is woken", || second.count() == 1);
        assert_eq!(first.count(), 0);
        assert!(poll(&mut sleep, &two).is_ready());
    }
}

#[test]
fn begun_on_one_worker_continued_on_another_and_outside() {
    within(FOREVER, || {
        let start = Instant::now();
        let length = milliseconds(30);
        let (runtime, other) = (runtime(1), runtime(1));
        let (_, waker) = Wakes::new();
        let sleeps = [(); 4].map(|()| polled_on(&runtime, length, waker.clone()));
        let [first, second, third, fourth] = sleeps;
        let host = other.handle().spawn(move || wait(first));
        let thread = thread::spawn(move || block_on(second));
        let task = thread::spawn(move || in_tokio(third));
        runtime.run(move || wait(fourth));
        host.join().unwrap();
        thread.join().unwrap();
        task.join().unwrap();
        assert!(start.elapsed() >= length);
    });
}

#[test]
fn begun_outside_continued_on_a_host() {
    within(FOREVER, || {
        let (_, waker) = Wakes::new();
        let mut sleep = Box::pin(sleep_async(milliseconds(20)));
        assert!(poll(&mut sleep, &waker).is_pending());
        runtime(1).run(move || wait(sleep));
    });
}

#[test]
fn a_runtime_that_ends_wakes_its_sleepers_and_they_sleep_on_elsewhere() {
    within(FOREVER, || {
        let start = Instant::now();
        let runtime = runtime(1);
        let (wakes, waker) = Wakes::new();
        let sleep = polled_on(&runtime, milliseconds(200), waker.clone());
        let never_polled_again = polled_on(&runtime, HOUR, waker);
        drop(runtime);
        assert_eq!(wakes.count(), 2);
        drop(never_polled_again);
        block_on(sleep);
        assert!(start.elapsed() >= milliseconds(200));
    });
}

#[test]
fn a_runtime_ends_while_a_task_of_another_executor_waits() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (_, waker) = Wakes::new();
        let mut sleep = polled_on(&runtime, HOUR, waker);
        let (polled, polls) = mpsc::channel();
        let task = thread::spawn(move || {
            let mut left = 2;
            block_on(std::future::poll_fn(|context| {
                assert!(sleep.as_mut().poll(context).is_pending());
                polled.send(()).unwrap();
                left -= 1;
                if left == 0 { Poll::Ready(()) } else { Poll::Pending }
            }));
        });
        polls.recv().unwrap();
        drop(runtime);
        task.join().unwrap();
    });
}

#[test]
fn an_earlier_deadline_is_seen_by_a_keeper_that_sleeps_for_a_later_one() {
    // Outside: the one who keeps the time is asleep until the first of these when the next comes.
    let mut long = Box::pin(sleep_async(HOUR));
    let (wakes, waker) = Wakes::new();
    assert!(poll(&mut long, &waker).is_pending());
    within(FOREVER, || {
        for n in 0..20 {
            thread::sleep(milliseconds(n % 4));
            block_on(sleep_async(milliseconds(5)));
        }
    });
    assert_eq!(wakes.count(), 0);
}

#[test]
fn what_is_done_in_time_is_ok() {
    everywhere(|| async {
        assert_eq!(with_timeout_async(HOUR, ready(1)).await, Ok(1));
        let now = std::time::Instant::now();
        assert_eq!(lamprey::with_deadline_async(now + HOUR, ready(1)).await, Ok(1));
        assert_eq!(lamprey::with_deadline_async(now, pending::<()>()).await, Err(TimedOut));
        assert_eq!(
            with_timeout_async(Duration::ZERO, ready(2)).await,
            Ok(2),
            "a result that is there counts"
        );
        let inner = with_timeout_async(milliseconds(2), pending::<()>());
        assert_eq!(with_timeout_async(HOUR, inner).await, Ok(Err(TimedOut)));
    });
}

#[test]
fn what_is_not_is_dropped() {
    everywhere(|| async {
        let dropped = counter();
        let guard = Counted(dropped.clone());
        let start = Instant::now();
        let result = with_timeout_async(milliseconds(5), async move {
            let _guard = guard;
            pending::<()>().await
        });
        let error: std::io::Error = result.await.unwrap_err().into();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(count(&dropped), 1);
        assert!(start.elapsed() >= milliseconds(5));
    });
}

#[test]
fn a_time_limit_costs_no_thread_its_sendness() {
    let future = is_send(with_timeout_async(HOUR, async { thread::current().id() }));
    let here = thread::current().id();
    assert_ne!(thread::spawn(|| block_on(future)).join().unwrap(), Ok(here));
}

#[test]
fn sleeps_even_where_no_kernel_thread_can_keep_the_time() {
    const NAME: &str = "sleeps_even_where_no_kernel_thread_can_keep_the_time";
    if role().is_none() {
        let (output, text) = rerun(NAME, "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    limit_descriptors(0);
    let start = Instant::now();
    block_on(sleep_async(milliseconds(20)));
    assert!(start.elapsed() >= milliseconds(20));
}
