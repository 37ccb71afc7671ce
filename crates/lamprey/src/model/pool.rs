//! The pool: each call runs once and its caller goes on once, although threads rest or end and callers are
//! cancelled meanwhile. A caller or an end of the pool that is not woken is a deadlock, which loom reports.
//!
//! If a pool keeps its threads for no time, they may end at any moment.

use super::{Broken, cancelled, check, check_bounded, must_fail};
use crate::driver::pool::{Pools, block_async};
use crate::sched::worker::wait;
use crate::sync_shim::{Arc, AtomicUsize, Ordering, thread};
use std::future::{Future, poll_fn};
use std::mem::ManuallyDrop;
use std::task::{Context, Waker};
use std::time::Duration;

/// Not dropped by a model that fails: the drop would wait for the pool's threads.
fn pool(max: usize, keep: Duration) -> ManuallyDrop<Pools> {
    ManuallyDrop::new(Pools::of_one(max, keep))
}

/// How long a resting thread is kept.
const NOT: Duration = Duration::ZERO;
const FOR_EVER: Duration = Duration::MAX;

/// Two callers of a pool of one thread, at once or one after the other.
fn two_calls(keep: Duration) {
    let pool = pool(1, keep);
    let shared = pool.shared();
    let other = thread::spawn(move || shared.run(|| 1));
    let mut borrowed = 0;
    let value = pool.shared().run(|| {
        borrowed += 1;
        2
    });
    assert_eq!((value, borrowed, other.join().unwrap()), (2, 1, 1));
    drop(ManuallyDrop::into_inner(pool));
}

#[test]
fn a_call_while_the_thread_runs_another_or_rests() {
    check_bounded(3, || two_calls(FOR_EVER));
}

#[test]
fn a_call_while_the_thread_ends() {
    check_bounded(3, || two_calls(NOT));
}

/// One call, and another that comes while the thread rests or is about to end.
fn one_after_the_other(keep: Duration) {
    let pool = pool(2, keep);
    for n in 0..2 {
        assert_eq!(pool.shared().run(|| n), n);
    }
    drop(ManuallyDrop::into_inner(pool));
}

#[test]
fn a_call_after_another() {
    check_bounded(2, || one_after_the_other(FOR_EVER));
}

#[test]
fn a_call_after_another_whose_thread_ends() {
    check_bounded(2, || one_after_the_other(NOT));
}

/// The caller is cancelled: the call is taken back without having run, or it has run and returns its value.
fn cancelled_caller() {
    let pool = pool(1, NOT);
    let runs = AtomicUsize::new(0);
    let value = cancelled(|| {
        pool.shared().run(|| {
            // Relaxed: a number, read after the call is over.
            runs.fetch_add(1, Ordering::Relaxed);
            7
        })
    });
    // Relaxed: the call is over.
    let runs_now = runs.load(Ordering::Relaxed);
    assert!(matches!((value, runs_now), (None, 0) | (Some(7), 1)), "{value:?} after {runs_now} runs");
    drop(ManuallyDrop::into_inner(pool));
    // Relaxed: the call is over.
    assert_eq!(runs.load(Ordering::Relaxed), runs_now, "it was run after all");
}

#[test]
fn a_cancelled_caller_takes_its_call_back_or_awaits_it() {
    check(cancelled_caller);
}

#[test]
fn a_caller_is_cancelled_while_another_waits_for_the_thread() {
    check_bounded(2, || {
        let pool = pool(1, FOR_EVER);
        let shared = pool.shared();
        let other = thread::spawn(move || cancelled(|| shared.run(|| 1)));
        assert_eq!(pool.shared().run(|| 2), 2);
        assert!(matches!(other.join().unwrap(), None | Some(1)));
        drop(ManuallyDrop::into_inner(pool));
    });
}

/// Counts its drop; a call of a future drops it when it ends, whether it ran or not.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        // Relaxed: a number that is read after all threads have ended.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_pool_ends_while_a_call_of_a_future_is_queued() {
    check(|| {
        let (dropped, pool) = (Arc::new(AtomicUsize::new(0)), pool(1, FOR_EVER));
        pool.install();
        let counted = Counted(dropped.clone());
        let mut call = Box::pin(block_async(move || drop(counted)));
        let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(ManuallyDrop::into_inner(pool));
        // Relaxed: the pool has ended.
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "it was queued, so it is run");
    });
}

#[test]
fn a_future_is_dropped_while_its_call_runs() {
    check(|| {
        let (dropped, pool) = (Arc::new(AtomicUsize::new(0)), pool(1, NOT));
        pool.install();
        let counted = Counted(dropped.clone());
        let mut call = Box::pin(block_async(move || counted));
        let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(call);
        drop(ManuallyDrop::into_inner(pool));
        // Relaxed: the pool has ended.
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "closure or result, once");
    });
}

fn awaited_call() {
    let pool = pool(1, FOR_EVER);
    pool.install();
    // Not dropped by a model that fails.
    let mut call = ManuallyDrop::new(Box::pin(block_async(|| 7)));
    assert_eq!(wait(poll_fn(|cx| call.as_mut().poll(cx))), 7);
    drop(ManuallyDrop::into_inner(call));
    drop(ManuallyDrop::into_inner(pool));
}

#[test]
fn a_thread_that_awaits_its_call_goes_on() {
    check(awaited_call);
}

#[test]
fn a_thread_that_rests_before_it_looks_is_caught() {
    must_fail(Broken::PoolQueue, || two_calls(FOR_EVER));
}

#[test]
fn a_pool_that_ends_and_calls_nobody_is_caught() {
    must_fail(Broken::PoolClose, || one_after_the_other(FOR_EVER));
}

#[test]
fn a_waker_that_is_left_too_late_is_caught() {
    must_fail(Broken::PoolAnswer, awaited_call);
}
