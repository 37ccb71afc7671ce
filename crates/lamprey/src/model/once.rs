//! `Once`: the code runs once, and whoever goes on after it sees what it did; also if the first attempt
//! fails.

use super::gate::Quiet;
use super::{Broken, check, check_bounded, must_fail};
use crate::sync::Once;
use crate::sync_shim::{Arc, AtomicUsize, Ordering, UnsafeCell, thread};
use std::time::Duration;

/// A once, and what its code writes.
struct Place {
    once: Once,
    value: UnsafeCell<u32>,
    /// Changed before the value is: loom takes a write that directly follows a fence, as the gate's, for one
    /// before it.
    apart: AtomicUsize,
}

// SAFETY: the value is written by the code of the once, and read after it; loom checks that.
unsafe impl Sync for Place {}
// SAFETY: as above.
unsafe impl Send for Place {}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self { once: Once::new(), value: UnsafeCell::new(0), apart: AtomicUsize::new(0) })
    }

    fn write(&self) {
        // Relaxed: see the field.
        self.apart.fetch_add(1, Ordering::Relaxed);
        // SAFETY: loom checks it.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }

    fn read(&self) -> u32 {
        // SAFETY: loom checks it.
        self.value.with(|value| unsafe { *value })
    }

    fn call(&self) -> u32 {
        self.once.call_once(|| self.write());
        self.read()
    }
}

/// One runs the code, the other looks whether it has been run, and goes by that alone.
fn looked_at_while_it_runs() {
    let place = Quiet::new(Place::new());
    let theirs = Quiet::new(Arc::clone(&place));
    let caller = thread::spawn(move || theirs.call());
    // Looked at until it has: a single look right after the other thread's begin is not put later by loom.
    while !place.once.is_completed() {
        thread::yield_now();
    }
    assert_eq!(place.read(), 1);
    assert_eq!(caller.join().unwrap(), 1);
}

#[test]
fn who_sees_that_it_is_done_sees_what_was_done() {
    check(looked_at_while_it_runs);
}

#[test]
fn of_two_who_call_one_runs_the_code() {
    check_bounded(3, || {
        let place = Place::new();
        let theirs = place.clone();
        let other = thread::spawn(move || theirs.call());
        assert_eq!((place.call(), other.join().unwrap()), (1, 1));
    });
}

#[test]
fn who_waits_goes_on_when_the_code_has_run() {
    check_bounded(3, || {
        let place = Place::new();
        let theirs = place.clone();
        let caller = thread::spawn(move || theirs.call());
        place.once.wait();
        assert_eq!(place.read(), 1);
        assert_eq!(caller.join().unwrap(), 1);
    });
}

#[test]
fn a_wait_that_ends_while_the_code_runs() {
    check_bounded(3, || {
        let place = Place::new();
        let theirs = place.clone();
        let caller = thread::spawn(move || theirs.call());
        if place.once.wait_timeout(Duration::from_millis(1)) {
            assert_eq!(place.read(), 1);
        }
        assert_eq!(caller.join().unwrap(), 1);
    });
}

#[test]
fn done_without_order_is_caught() {
    must_fail(Broken::OnceDone, looked_at_while_it_runs);
}
