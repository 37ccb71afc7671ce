//! The condition variable: a notification reaches a waiter, even if another waiter leaves meanwhile.
//!
//! Set up as in [`mutex`](super::mutex): threads are OS threads, and a deadline may pass at any moment.

use super::mutex::Watched;
use super::{Broken, check_bounded, must_fail};
use crate::sync::{Condvar, Mutex};
use crate::sync_shim::thread;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

/// A deadline that passes as soon as it is checked; the checker varies when that is.
const SOON: Duration = Duration::ZERO;

/// Not dropped after a failure: the checker is gone then.
struct Shared(ManuallyDrop<Arc<(Mutex<Watched>, Condvar)>>);

impl Shared {
    fn new() -> Self {
        Self(ManuallyDrop::new(Arc::new((Mutex::default(), Condvar::new()))))
    }

    fn with<R: 'static>(&self, body: impl FnOnce(&Self) -> R + 'static) -> thread::JoinHandle<R> {
        let shared = Self(self.0.clone());
        thread::spawn(move || body(&shared))
    }

    fn lock(&self) -> crate::sync::MutexGuard<'_, Watched> {
        self.0.0.lock().unwrap()
    }

    /// Waits until the number is positive, and decrements it.
    fn take(&self) {
        let guard = self.0.1.wait_while(self.lock(), |number| number.add(0) == 0).unwrap();
        guard.add(u32::MAX);
    }

    /// Waits once; 1 if it was notified.
    fn wait_once(&self) -> u32 {
        let (guard, result) = self.0.1.wait_timeout(self.lock(), SOON).unwrap();
        drop(guard);
        u32::from(!result.timed_out())
    }

    fn put(&self) {
        self.lock().add(1);
        self.0.1.notify_one();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: dropped only here.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

fn one_waits() {
    let shared = Shared::new();
    let waiter = shared.with(Shared::take);
    shared.put();
    waiter.join().unwrap();
}

/// The waiter is notified under the lock.
fn one_waits_and_is_notified_under_the_lock() {
    let shared = Shared::new();
    let waiter = shared.with(Shared::take);
    let guard = shared.lock();
    guard.add(1);
    shared.0.1.notify_one();
    drop(guard);
    waiter.join().unwrap();
}

fn two_wait_for_all() {
    let shared = Shared::new();
    let waiters = [shared.with(Shared::take), shared.with(Shared::take)];
    shared.lock().add(2);
    shared.0.1.notify_all();
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
}

/// One waiter gives up while it is notified: either it or the other one was notified.
fn one_of_two_gives_up() {
    let shared = Shared::new();
    let leaver = shared.with(Shared::wait_once);
    let waiter = shared.with(Shared::take);
    shared.put();
    if leaver.join().unwrap() == 1 {
        shared.0.1.notify_one(); // it took the notification, and has no use for it
    }
    waiter.join().unwrap();
}

#[test]
fn a_waiter_is_notified() {
    check_bounded(4, one_waits);
}

#[test]
fn a_waiter_is_notified_while_the_mutex_is_held() {
    check_bounded(4, one_waits_and_is_notified_under_the_lock);
}

#[test]
fn all_are_notified() {
    check_bounded(1, two_wait_for_all);
}

#[test]
fn a_waiter_gives_up_while_it_is_notified() {
    check_bounded(1, one_of_two_gives_up);
}

#[test]
fn a_mutex_that_is_let_go_before_the_waiter_is_in_line_is_caught() {
    must_fail(Broken::CondvarEarly, one_waits);
}
