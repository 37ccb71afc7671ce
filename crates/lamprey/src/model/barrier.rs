//! `Barrier`: either all threads pass together or none does, and writes before it are visible after it.

use super::gate::Quiet;
use super::{Broken, check_bounded, must_fail};
use crate::sync::Barrier;
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::time::Duration;

/// A barrier for two threads, and what each of them writes before it.
struct Place {
    barrier: Barrier,
    written: [UnsafeCell<u32>; 2],
}

// SAFETY: each value is written by one thread before the barrier, and read by the other one after it; loom
// checks that.
unsafe impl Sync for Place {}
// SAFETY: each value is written before the barrier and read after it; loom checks that.
unsafe impl Send for Place {}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self { barrier: Barrier::new(2), written: [UnsafeCell::new(0), UnsafeCell::new(0)] })
    }

    /// Writes its own value, waits, and reads the other's; true for the leader.
    fn pass(&self, own: usize) -> bool {
        // SAFETY: loom checks that no other thread reads or writes it meanwhile.
        self.written[own].with_mut(|value| unsafe { *value = 7 });
        let is_leader = self.barrier.wait().is_leader();
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.written[1 - own].with(|value| assert_eq!(unsafe { *value }, 7));
        is_leader
    }

    fn come(&self) -> bool {
        self.barrier.wait_timeout(Duration::from_millis(1)).is_ok()
    }
}

#[test]
fn two_pass_together_and_one_of_them_leads() {
    check_bounded(3, || {
        let place = Place::new();
        let theirs = place.clone();
        let other = thread::spawn(move || theirs.pass(1));
        let leads = place.pass(0);
        assert_ne!(leads, other.join().unwrap());
    });
}

#[test]
fn a_barrier_is_as_new_after_each_round() {
    check_bounded(2, || {
        let place = Place::new();
        let theirs = place.clone();
        let other =
            thread::spawn(move || [theirs.barrier.wait().is_leader(), theirs.barrier.wait().is_leader()]);
        let leads = [place.barrier.wait().is_leader(), place.barrier.wait().is_leader()];
        let others = other.join().unwrap();
        assert!(leads[0] != others[0] && leads[1] != others[1]);
    });
}

/// Two threads with limited waits: both pass or neither does, and no arrival is left.
fn both_may_go() {
    let place = Quiet::new(Place::new());
    let theirs = Quiet::new(Arc::clone(&place));
    let other = thread::spawn(move || theirs.come());
    let came = place.come();
    assert_eq!(came, other.join().unwrap());
    assert!(!place.come(), "somebody who had gone still counts");
}

#[test]
fn of_two_who_may_go_both_pass_or_nobody() {
    check_bounded(3, both_may_go);
}

#[test]
fn who_goes_and_still_counts_is_caught() {
    must_fail(Broken::BarrierGoes, both_may_go);
}
