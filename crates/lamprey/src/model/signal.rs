//! Pending signals: each is taken once, whichever threads take and sleep meanwhile, and what was done before it was sent
//! is seen. The eventfd is a counter under a lock.

use super::{Broken, check, check_bounded, must_fail};
use crate::signal::pending::{Counter, Pending};
use crate::sync_shim::{Arc, Condvar, Mutex, UnsafeCell, thread};

#[derive(Default)]
struct Eventfd {
    count: Mutex<u64>,
    readable: Condvar,
}

impl Counter for Eventfd {
    fn add(&self) {
        *self.count.lock().unwrap() += 1;
        self.readable.notify_all();
    }

    fn reset(&self) {
        *self.count.lock().unwrap() = 0;
    }
}

impl Eventfd {
    /// `poll(2)`.
    fn wait(&self) {
        let mut count = self.count.lock().unwrap();
        while *count == 0 {
            count = self.readable.wait(count).unwrap();
        }
    }
}

fn recv(pending: &Pending<Eventfd>) -> u32 {
    loop {
        match pending.take() {
            Some(bit) => return bit,
            None => pending.counter.wait(),
        }
    }
}

fn pending() -> Arc<Pending<Eventfd>> {
    Arc::new(Pending::new(Eventfd::default()))
}

fn a_thread_waits_for_two() {
    let pending = pending();
    let handlers = [0, 63].map(|bit| {
        let pending = pending.clone();
        thread::spawn(move || pending.set(bit))
    });
    assert_eq!(recv(&pending) + recv(&pending), 63);
    handlers.into_iter().for_each(|handler| handler.join().unwrap());
    assert_eq!(pending.take(), None);
}

fn two_threads_wait_for_two() {
    let pending = pending();
    let theirs = [pending.clone(), pending.clone()];
    let [handler, other] = theirs;
    let handler = thread::spawn(move || [3, 5].map(|bit| handler.set(bit)));
    let other = thread::spawn(move || recv(&other));
    assert_eq!(recv(&pending) + other.join().unwrap(), 8);
    handler.join().unwrap();
}

#[test]
fn no_signal_is_lost() {
    check(a_thread_waits_for_two);
}

#[test]
fn no_waiter_is_lost() {
    check_bounded(3, two_threads_wait_for_two);
}

#[test]
fn what_was_done_before_is_seen() {
    struct Written(UnsafeCell<u32>);
    // SAFETY: written before the signal and read after it; loom checks that.
    unsafe impl Send for Written {}
    // SAFETY: written before the signal and read after it; loom checks that.
    unsafe impl Sync for Written {}
    check(|| {
        let shared = Arc::new((Written(UnsafeCell::new(0)), Pending::new(Eventfd::default())));
        let theirs = shared.clone();
        let handler = thread::spawn(move || {
            // SAFETY: loom checks that no other thread accesses it meanwhile.
            theirs.0.0.with_mut(|value| unsafe { *value = 7 });
            theirs.1.set(1);
        });
        assert_eq!(recv(&shared.1), 1);
        // SAFETY: loom checks that no thread writes it meanwhile.
        shared.0.0.with(|value| assert_eq!(unsafe { *value }, 7));
        handler.join().unwrap();
    });
}

#[test]
fn the_second_look_is_needed() {
    must_fail(Broken::SignalLook, a_thread_waits_for_two);
}

#[test]
fn the_write_for_others_is_needed() {
    must_fail(Broken::SignalOthers, two_threads_wait_for_two);
}
