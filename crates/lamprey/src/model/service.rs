//! Who serves a ring: the end of a sleep is never taken away from the sleeper, and answers are given in their order.

use super::{Broken, check, is_broken, must_fail};
use crate::driver::service::Service;
use crate::sync_shim::{Arc, Mutex, thread};
use std::collections::VecDeque;

/// The completion that is the owner's.
const BELL: u32 = 100;

/// A ring's completions.
struct Ring {
    service: Service<u32>,
    completions: Mutex<VecDeque<u32>>,
    given: Mutex<Vec<u32>>,
}

impl Ring {
    fn new() -> Arc<Self> {
        let completions = Mutex::new(VecDeque::new());
        Arc::new(Self { service: Service::new(), completions, given: Mutex::default() })
    }

    /// The kernel.
    fn complete(&self, what: u32) {
        self.completions.lock().unwrap().push_back(what);
    }

    fn take(&self) -> Vec<u32> {
        self.completions.lock().unwrap().drain(..).collect()
    }

    fn give(&self, found: &[u32]) {
        found.iter().filter(|what| **what != BELL).for_each(|what| self.given.lock().unwrap().push(*what));
    }

    /// One look; true if the bell has rung.
    fn owner_looks(&self) -> bool {
        let mut right = self.service.hold();
        let mut found = std::mem::take(&mut right.kept);
        found.extend(self.take());
        self.give(&found);
        found.contains(&BELL)
    }

    fn helps(&self) {
        let early = is_broken(Broken::ServiceRight).then(|| self.take());
        let Some(mut right) = self.service.try_hold() else { return };
        let found = early.unwrap_or_else(|| self.take());
        if found.contains(&BELL) && !is_broken(Broken::ServiceKept) {
            right.kept.push(BELL);
        }
        if is_broken(Broken::ServiceOrder) {
            drop(right);
            return self.give(&found);
        }
        self.give(&found);
    }
}

/// The bell rings while the owner lies down and a helper helps.
fn the_bell_ends_the_sleep() {
    let ring = Ring::new();
    let (theirs, its) = (ring.clone(), ring.clone());
    let helper = thread::spawn(move || theirs.helps());
    let ringer = thread::spawn(move || its.complete(BELL));
    let right = ring.service.hold();
    let sleeps = right.kept.is_empty();
    // It sleeps with the right until the bell has rung.
    ringer.join().unwrap();
    let wakes = !sleeps || !ring.completions.lock().unwrap().is_empty();
    drop(right);
    helper.join().unwrap();
    assert!(wakes, "the owner sleeps on");
}

/// Two answers of one multishot.
fn answers_come_in_order() {
    let ring = Ring::new();
    let theirs = ring.clone();
    ring.complete(1);
    let helper = thread::spawn(move || theirs.helps());
    ring.complete(2);
    ring.owner_looks();
    helper.join().unwrap();
    ring.owner_looks();
    assert_eq!(*ring.given.lock().unwrap(), [1, 2]);
}

/// A thread that has helped ends after the ring.
fn a_helper_ends_after_the_ring() {
    let ring = Ring::new();
    let theirs = ring.clone();
    let helper = thread::spawn(move || {
        theirs.helps();
        theirs.service.await_end();
        theirs.given.lock().unwrap().push(2);
    });
    let right = ring.service.hold();
    ring.given.lock().unwrap().push(1);
    ring.service.end(right);
    helper.join().unwrap();
    assert_eq!(*ring.given.lock().unwrap(), [1, 2]);
}

#[test]
fn a_bell_that_a_helper_takes_ends_the_sleep() {
    super::check_bounded(3, the_bell_ends_the_sleep);
}

#[test]
fn the_answers_of_an_operation_come_in_order() {
    check(answers_come_in_order);
}

#[test]
fn helpers_end_after_the_rings_that_they_have_helped_with() {
    check(a_helper_ends_after_the_ring);
}

#[test]
fn a_helper_must_have_the_right_before_it_takes() {
    must_fail(Broken::ServiceRight, the_bell_ends_the_sleep);
}

#[test]
fn a_helper_must_keep_the_bell() {
    must_fail(Broken::ServiceKept, the_bell_ends_the_sleep);
}

#[test]
fn a_helper_must_have_the_right_until_it_has_given_the_answers() {
    must_fail(Broken::ServiceOrder, answers_come_in_order);
}
