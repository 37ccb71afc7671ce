//! A reified thread gets the value that it is prepared with, once, or is cancelled, once; a value that it
//! does not get is dropped.
//!
//! Threads are OS threads and hosts ([`host`](super::host)); the cell is the real one.

use super::host_waits::{End, on_host};
use super::{Broken, cancelled, check_bounded, must_fail};
use crate::parasite::reify::{Parasite, reify};
use crate::sched::block::CancelUnwind;
use crate::sync_shim::thread;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Counted, to check that it is dropped.
type Value = Arc<()>;

/// What the other thread does with the reified thread.
type Other = fn(Parasite<Value>, Value);

fn attaches(parasite: Parasite<Value>, value: Value) {
    parasite.prepare(value).attach();
}

fn prepares(parasite: Parasite<Value>, value: Value) {
    drop(parasite.prepare(value));
}

fn drops(parasite: Parasite<Value>, _: Value) {
    drop(parasite);
}

/// Suspends the caller until `other`, on another thread, has used it. The first result is whether the caller
/// got a value, or `None` if it unwound.
fn suspended(other: Other, value: Value) -> (Option<bool>, thread::JoinHandle<()>) {
    let mut started = None;
    let got = catch_unwind(AssertUnwindSafe(|| {
        let got = reify(|me| started = Some(thread::spawn(move || other(me, value)))).sync();
        Arc::strong_count(&got) == 2
    }));
    let got = match got {
        Ok(got) => Some(got),
        Err(payload) if payload.is::<CancelUnwind>() => None,
        Err(payload) => resume_unwind(payload),
    };
    (got, started.unwrap())
}

fn on_os_thread(other: Other) -> Option<bool> {
    let value = Value::default();
    let (got, other) = suspended(other, value.clone());
    other.join().unwrap();
    assert_eq!(Arc::strong_count(&value), 1, "the value was lost");
    got
}

fn on_cancelled_os_thread(other: Other) {
    let value = Value::default();
    let (_, other) = cancelled(|| suspended(other, value.clone())).expect("caught before");
    other.join().unwrap();
    // Fails the run if a wake came too late.
    let _ = crate::sched::waiter();
    assert_eq!(Arc::strong_count(&value), 1, "the value was lost");
}

fn as_host(other: Other, end: End) -> Option<bool> {
    let value = Value::default();
    let theirs = value.clone();
    let (got, other) = on_host(end, move || suspended(other, theirs)).expect("caught before");
    other.join().unwrap();
    assert_eq!(Arc::strong_count(&value), 1, "the value was lost");
    got
}

#[test]
fn the_value_comes() {
    check_bounded(3, || assert_eq!(on_os_thread(attaches), Some(true)));
    check_bounded(3, || assert_eq!(on_os_thread(prepares), Some(true)));
    check_bounded(2, || assert_eq!(as_host(attaches, End::Never), Some(true)));
}

#[test]
fn it_is_dropped() {
    check_bounded(3, || assert_eq!(on_os_thread(drops), None));
    check_bounded(2, || assert_eq!(as_host(drops, End::Never), None));
}

#[test]
fn it_is_cancelled_while_its_value_comes() {
    check_bounded(3, || on_cancelled_os_thread(attaches));
    check_bounded(2, || _ = as_host(attaches, End::Cancel));
    check_bounded(2, || _ = as_host(drops, End::Cancel));
}

#[test]
fn one_that_leaves_without_a_look_is_caught() {
    must_fail(Broken::ReifyLeave, || on_cancelled_os_thread(attaches));
    must_fail(Broken::ReifyLeave, || _ = as_host(attaches, End::Cancel));
}
