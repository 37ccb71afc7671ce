//! `Once`: the code runs once, and a thread that goes on after it sees what it did, even if the first attempt
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
    /// Changed before the value: loom treats a write that directly follows a fence, such as the gate's, as
    /// one before it.
    apart: AtomicUsize,
}

// SAFETY: the value is written by the code of the once, and read after it; loom checks that.
unsafe impl Sync for Place {}
// SAFETY: the code of the once writes the value, and all reads come after it; loom checks that.
unsafe impl Send for Place {}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self { once: Once::new(), value: UnsafeCell::new(0), apart: AtomicUsize::new(0) })
    }

    fn write(&self) {
        // Relaxed: only a change between the fence and the write matters.
        self.apart.fetch_add(1, Ordering::Relaxed);
        // SAFETY: loom checks that no other thread accesses it meanwhile.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }

    fn read(&self) -> u32 {
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.value.with(|value| unsafe { *value })
    }

    fn call(&self) -> u32 {
        self.once.call_once(|| self.write());
        self.read()
    }
}

/// One thread runs the code; the other only checks whether it has run.
fn looked_at_while_it_runs() {
    let place = Quiet::new(Place::new());
    let theirs = Quiet::new(Arc::clone(&place));
    let caller = thread::spawn(move || theirs.call());
    // Repeated: loom does not delay a single load that directly follows the start of the other thread.
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
