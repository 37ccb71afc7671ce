//! The monitor's duty: while one worker is awake, no other sleeps unmonitored. A sleep that no thread ends is
//! a deadlock, which loom reports.

use super::{Broken, check_bounded, must_fail};
use crate::sched::duty::Duty;
use crate::sched::park::Parking;
use crate::sync_shim::{AtomicBool, AtomicUsize, Ordering, Parker, thread};
use std::sync::Arc;

/// The worker that sleeps; the other is number 1.
const SLEEPER: usize = 0;

/// Forced switches a run. Without a bound, one worker could appoint the other, fail, and take the duty back
/// for ever, in step with the other's checks.
const BOUND: usize = 3;

/// Two workers reduced to their sleep.
struct Pair {
    duty: Duty,
    awake: AtomicUsize,
    parking: Parking,
    parker: Parker,
    brief: AtomicBool,
}

impl Pair {
    /// The calling thread plays the sleeper, and is awake.
    fn new() -> Arc<Self> {
        let (parking, parker) = (Parking::new(), Parker::of_current());
        let (awake, brief) = (AtomicUsize::new(1), AtomicBool::new(false));
        Arc::new(Self { duty: Duty::new(), awake, parking, parker, brief })
    }

    /// The steps of `Worker::sleep`, until it is the monitor. `on_watch` says whether it begins as the
    /// monitor.
    fn sleep_until_on_watch(&self, mut on_watch: bool) {
        loop {
            // Relaxed: a hint; the SeqCst load of `awake` in this loop decides.
            if self.awake.fetch_sub(1, Ordering::Relaxed) == 1 {
                if on_watch {
                    self.duty.leave(SLEEPER);
                }
                on_watch = false;
            }
            // StoreLoad race: this worker's fetch_sub against its load, and the other's fetch_add against its
            // search; pairs with the fetch_add in `get_up`.
            if self.awake.load(Ordering::SeqCst) != 0 && (on_watch || self.duty.appoint(SLEEPER)) {
                return;
            }
            // A brief sleep, which ends at once here. Relaxed: before the fence in `Parking::prepare`.
            self.brief.store(true, Ordering::Relaxed);
            self.parking.prepare();
            self.parking.finish();
            // Relaxed: after the fence in `Parking::prepare`.
            if self.awake.load(Ordering::Relaxed) != 0 && self.duty.appoint(SLEEPER) {
                return;
            }
            // Relaxed: before the fence in `Parking::prepare`.
            self.brief.store(false, Ordering::Relaxed);
            self.parking.prepare();
            if !self.duty.is_lacking(SLEEPER, &self.awake) {
                self.parker.park();
            }
            self.parking.finish();
            // StoreLoad race: this fetch_add against the load of the duty; pairs with the fences in
            // `Parking`.
            self.awake.fetch_add(1, Ordering::SeqCst);
            if self.duty.is_mine(SLEEPER) {
                return;
            }
        }
    }

    /// The steps of `Worker::see_to_watch` and `Shared::appoint`, for the other worker, which stays awake.
    fn get_up(&self) {
        // StoreLoad race: pairs with the load of `awake` in `sleep_until_on_watch`.
        self.awake.fetch_add(1, Ordering::SeqCst);
        if !self.duty.is_mine(1) && self.duty.is_vacant() {
            self.appoint();
        }
    }

    fn appoint(&self) {
        loop {
            Duty::before_search();
            // Relaxed: after the fence in `Duty::before_search`.
            if !self.parking.is_asleep() || self.brief.load(Ordering::Relaxed) {
                return;
            }
            if !self.duty.appoint(SLEEPER) {
                return;
            }
            if self.parking.claim() {
                return self.parker.unpark();
            }
            if !self.duty.leave(SLEEPER) {
                return;
            }
        }
    }
}

fn one_gets_up(on_watch: bool) {
    let pair = Pair::new();
    if on_watch {
        assert!(pair.duty.appoint(SLEEPER));
    }
    let theirs = pair.clone();
    let other = thread::spawn(move || theirs.get_up());
    pair.sleep_until_on_watch(on_watch);
    other.join().unwrap();
}

#[test]
fn one_gets_up_while_the_other_lies_down() {
    check_bounded(BOUND, || one_gets_up(false));
}

#[test]
fn one_gets_up_while_the_other_leaves_the_watch() {
    check_bounded(BOUND, || one_gets_up(true));
}

/// The other worker was the monitor, and has work now.
fn one_passes_it_on() {
    let pair = Pair::new();
    assert!(pair.duty.appoint(1));
    // Relaxed: before the other thread begins. The other worker is awake, too.
    pair.awake.fetch_add(1, Ordering::Relaxed);
    let theirs = pair.clone();
    let other = thread::spawn(move || {
        assert!(theirs.duty.leave(1));
        theirs.appoint();
    });
    pair.sleep_until_on_watch(false);
    other.join().unwrap();
}

#[test]
fn one_passes_it_on_while_the_other_lies_down() {
    check_bounded(BOUND, one_passes_it_on);
}

#[test]
fn one_wakes_by_itself_while_it_is_appointed() {
    check_bounded(BOUND, || {
        let pair = Pair::new();
        let theirs = pair.clone();
        let other = thread::spawn(move || theirs.get_up());
        pair.parker.unpark(); // as a message would do
        pair.sleep_until_on_watch(false);
        other.join().unwrap();
    });
}

#[test]
fn without_the_fences_it_is_caught() {
    must_fail(Broken::Fence, || one_gets_up(false));
}

#[test]
fn without_the_look_before_the_sleep_it_is_caught() {
    must_fail(Broken::DutyBlind, one_passes_it_on);
}
