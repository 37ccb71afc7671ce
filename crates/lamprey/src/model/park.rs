//! Parking: no wake is lost. A lost wake is a deadlock, which loom reports.

use super::{Broken, check, check_bounded, must_fail};
use crate::sched::park::Parking;
use crate::sync_shim::{Arc, AtomicBool, Ordering, Parker, thread};

/// A worker reduced to its parking: a flag is the inbox, and the worker's park token the notifier.
struct Sleeper {
    parking: Parking,
    parker: Parker,
    mail: AtomicBool,
}

impl Sleeper {
    fn new() -> Arc<Self> {
        Arc::new(Self { parking: Parking::new(), parker: Parker::of_current(), mail: AtomicBool::new(false) })
    }

    /// The steps of `Worker::sleep`, until there is a message.
    fn wait(&self) {
        // Acquire pairs with the Release store in `send`.
        while !self.mail.load(Ordering::Acquire) {
            self.parking.prepare();
            // Relaxed: after the fence in `prepare`; the inbox's `is_empty` does the same.
            if !self.mail.load(Ordering::Relaxed) {
                self.parker.park();
            }
            self.parking.finish();
        }
    }

    /// The steps of `WorkerShared::deliver`.
    fn send(&self) {
        // Release pairs with the Acquire load in `wait`.
        self.mail.store(true, Ordering::Release);
        if self.parking.claim() {
            self.parker.unpark();
        }
    }
}

fn one_waker() {
    let sleeper = Sleeper::new();
    let theirs = sleeper.clone();
    let waker = thread::spawn(move || theirs.send());
    sleeper.wait();
    waker.join().unwrap();
}

#[test]
fn wake_before_park_and_between_look_and_sleep() {
    check(one_waker);
}

#[test]
fn two_wakers_notify_at_least_once() {
    check_bounded(3, || {
        let sleeper = Sleeper::new();
        let wakers: Vec<_> = (0..2)
            .map(|_| {
                let theirs = sleeper.clone();
                thread::spawn(move || theirs.send())
            })
            .collect();
        sleeper.wait();
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
    });
}

#[test]
fn stale_notify_only_ends_a_later_sleep() {
    check(|| {
        let sleeper = Sleeper::new();
        sleeper.parker.unpark(); // a late notification of an earlier round
        let theirs = sleeper.clone();
        let waker = thread::spawn(move || theirs.send());
        sleeper.wait();
        waker.join().unwrap();
    });
}

#[test]
fn without_the_fences_it_is_caught() {
    must_fail(Broken::Fence, one_waker);
}
