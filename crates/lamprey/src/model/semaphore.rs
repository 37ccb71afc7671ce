//! The semaphore: each permit is with one thread or free, whichever thread times out, is dropped, loses its
//! choice or is turned away by a close, and no thread waits for a permit that is free.
//!
//! Threads block as OS threads, and a deadline may pass at any moment.

use super::gate::Quiet;
use super::{Broken, check, check_bounded, must_fail};
use crate::events::{Event, choose};
use crate::sched::worker::with_strange_context;
use crate::sync::{AcquireError, Semaphore};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::future::Future;
use std::time::Duration;

/// A deadline that passes as soon as it is checked; the checker varies when that is.
const SOON: Duration = Duration::ZERO;

/// A semaphore that is not dropped after a failure.
fn seats(permits: u32) -> Quiet<Arc<Semaphore>> {
    Quiet::new(Arc::new(Semaphore::new(permits)))
}

fn again<T>(shared: &Quiet<Arc<T>>) -> Quiet<Arc<T>> {
    Quiet::new(Arc::clone(shared))
}

/// A value that only the holder of the permit touches.
struct Guarded {
    seat: Semaphore,
    value: UnsafeCell<u32>,
}

// SAFETY: the permit orders all accesses; loom checks that.
unsafe impl Send for Guarded {}
// SAFETY: only the holder of the permit accesses the value; loom checks that.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn add_one(&self) {
        let _remote = Quiet::new(self.seat.acquire(1).unwrap());
        // SAFETY: loom checks that no other thread accesses it meanwhile.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }
}

fn one_at_a_time(others: usize) {
    let guarded = Quiet::new(Arc::new(Guarded { seat: Semaphore::new(1), value: UnsafeCell::new(0) }));
    let threads: Vec<_> = (0..others)
        .map(|_| {
            let guarded = again(&guarded);
            thread::spawn(move || guarded.add_one())
        })
        .collect();
    guarded.add_one();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(guarded.seat.available_permits(), 1);
    // SAFETY: all other threads have ended.
    guarded.value.with(|value| assert_eq!(unsafe { *value }, others as u32 + 1));
}

#[test]
fn a_permit_is_with_one_thread() {
    check(|| one_at_a_time(1));
    check_bounded(1, || one_at_a_time(2));
}

#[test]
fn what_makes_it_so() {
    must_fail(Broken::LineExit, || one_at_a_time(1));
    must_fail(Broken::LineBlind, a_permit_comes);
}

fn a_permit_comes() {
    let seats = seats(0);
    let theirs = again(&seats);
    let giver = thread::spawn(move || theirs.add_permits(1));
    seats.acquire(1).unwrap().forget();
    giver.join().unwrap();
    assert_eq!(seats.available_permits(), 0);
}

#[test]
fn a_thread_waits_for_a_permit() {
    check(a_permit_comes);
}

#[test]
fn a_wait_ends_while_a_permit_comes() {
    check(|| {
        let seats = seats(0);
        let theirs = again(&seats);
        let giver = thread::spawn(move || theirs.add_permits(1));
        let got = seats.acquire_timeout(1, SOON).map(|permit| permit.forget()).is_ok();
        giver.join().unwrap();
        assert_eq!(u64::from(got) + seats.available_permits(), 1);
    });
}

/// A waiter that wants many permits leaves; the waiter behind it must not wait for free ones.
#[test]
fn the_first_in_line_gives_up() {
    check_bounded(1, || {
        let seats = seats(1);
        let theirs = again(&seats);
        let greedy = thread::spawn(move || theirs.acquire_timeout(2, SOON).is_ok());
        drop(seats.acquire(1).unwrap());
        assert!(!greedy.join().unwrap());
        assert_eq!(seats.available_permits(), 1);
    });
}

/// A close and a permit come while a thread waits: the permit is with the waiter, or free.
fn closed_while_granted() {
    let seats = seats(0);
    let theirs = again(&seats);
    let giver = thread::spawn(move || {
        theirs.add_permits(1);
        theirs.close();
    });
    let got = match seats.acquire(1) {
        Ok(permit) => {
            permit.forget();
            1
        }
        Err(error) => {
            assert_eq!(error, AcquireError::Closed);
            0
        }
    };
    giver.join().unwrap();
    assert_eq!(got + seats.available_permits(), 1);
}

#[test]
fn it_is_closed_while_a_permit_comes() {
    check(closed_while_granted);
    must_fail(Broken::SemaphoreClosed, closed_while_granted);
}

/// A future that was granted the permit is dropped; a thread waits behind it.
fn granted_and_dropped() {
    let seats = seats(0);
    let theirs = again(&seats);
    let mut first =
        Box::pin(async move { theirs.acquire_async(1).await.map(|permit| permit.forget()).is_ok() });
    assert!(with_strange_context(|cx| first.as_mut().poll(cx)).is_pending());
    let leaver = thread::spawn(move || drop(first));
    seats.add_permits(1);
    drop(seats.acquire(1).unwrap());
    leaver.join().unwrap();
    assert_eq!(seats.available_permits(), 1);
}

#[test]
fn a_grant_of_a_future_that_goes_is_the_next_ones() {
    check_bounded(2, granted_and_dropped);
    must_fail(Broken::LineKeep, granted_and_dropped);
}

/// A choice between two semaphores: both get a permit, one of which is taken.
fn a_choice_takes_one() {
    let seats = Quiet::new(Arc::new((Semaphore::new(0), Semaphore::new(0))));
    let theirs = again(&seats);
    let giver = thread::spawn(move || {
        theirs.0.add_permits(1);
        theirs.1.add_permits(1);
    });
    choose([seats.0.acquire_evt(1), seats.1.acquire_evt(1)]).sync().unwrap().forget();
    giver.join().unwrap();
    assert_eq!(seats.0.available_permits() + seats.1.available_permits(), 1);
}

#[test]
fn a_choice_between_two_takes_one_permit() {
    check_bounded(2, a_choice_takes_one);
    must_fail(Broken::Stale, a_choice_takes_one);
}

#[test]
fn a_choice_ends_while_a_permit_comes() {
    check_bounded(3, || {
        let seats = seats(0);
        let theirs = again(&seats);
        let giver = thread::spawn(move || theirs.add_permits(1));
        let permit = choose([seats.acquire_evt(1)]).sync_timeout(SOON);
        let got = permit.map(|permit| permit.unwrap().forget()).is_some();
        giver.join().unwrap();
        assert_eq!(u64::from(got) + seats.available_permits(), 1);
    });
}
