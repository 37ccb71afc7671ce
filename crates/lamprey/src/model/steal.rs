//! A host is queued by a worker that has just got up, while the last other worker goes idle: the other one
//! dozes, or is called. A sleep that no thread ends is a deadlock, which loom reports.

use super::{Broken, check, must_fail};
use crate::sched::idle;
use crate::sched::park::Parking;
use crate::sync_shim::{AtomicBool, AtomicUsize, Ordering, Parker, thread};
use std::sync::Arc;

/// Two workers reduced to their sleep; one of them is awake.
struct Pair {
    awake: AtomicUsize,
    count: AtomicUsize,
    flag: AtomicBool,
    parking: Parking,
    parker: Parker,
}

impl Pair {
    /// The steps of `Worker::sleep`, without a monitor.
    fn sleep(&self) {
        // Relaxed: `Worker::sleep` does the same; the fence in `lie_down` orders it.
        if self.awake.fetch_sub(1, Ordering::Relaxed) > 1 {
            return; // dozes
        }
        idle::lie_down(&self.flag, &self.count);
        if !idle::others_awake(&self.awake) {
            self.parking.prepare();
            if !idle::is_called(&self.flag) {
                self.parker.park();
            }
            self.parking.finish();
        }
        idle::claim(&self.flag, &self.count);
        idle::get_up(&self.awake);
    }

    /// The other worker gets up and queues a host.
    fn get_up(&self) {
        idle::get_up(&self.awake);
        if idle::is_somebody(&self.count) && idle::claim(&self.flag, &self.count) && self.parking.claim() {
            self.parker.unpark();
        }
    }
}

fn queued_while_the_other_goes_idle() {
    let pair = Arc::new(Pair {
        awake: AtomicUsize::new(1),
        count: AtomicUsize::new(0),
        flag: AtomicBool::new(false),
        parking: Parking::new(),
        parker: Parker::of_current(),
    });
    let theirs = pair.clone();
    let other = thread::spawn(move || theirs.get_up());
    pair.sleep();
    other.join().unwrap();
    // Relaxed: all threads have ended.
    assert_eq!(pair.count.load(Ordering::Relaxed), 0);
}

#[test]
fn a_host_is_queued_while_the_last_other_worker_goes_idle() {
    check(queued_while_the_other_goes_idle);
}

#[test]
fn without_the_fences_it_is_caught() {
    must_fail(Broken::Fence, queued_while_the_other_goes_idle);
}

#[test]
fn one_that_is_called_before_it_sleeps_and_does_not_look_is_caught() {
    must_fail(Broken::IdleCalled, queued_while_the_other_goes_idle);
}
