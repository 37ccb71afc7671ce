//! Owner bias: the owner and other threads never access the object at once, and each sees the earlier
//! accesses, in whatever order they come, and when an epoch or a worker ends.
//!
//! The object is in a loom cell, so any overlap or missing ordering fails the model. Threads that share it
//! use a lock (a blocking one: the checker would follow spinning without end); the owner uses none.

use super::{Broken, check, check_bounded, is_broken, must_fail};
use crate::bias::{Access, Bias, Lease, Slot, bulk_revocation::CALM};
use crate::sync_shim::{Arc, Mutex, UnsafeCell, thread};

/// A biased object.
struct Object {
    bias: Bias,
    count: UnsafeCell<u32>,
    lock: Mutex<()>,
}

// SAFETY: loom checks every access to the cell; that is the test.
unsafe impl Sync for Object {}
// SAFETY: loom checks every access to the cell.
unsafe impl Send for Object {}

impl Object {
    fn new() -> Arc<Self> {
        Arc::new(Self { bias: Bias::new(), count: UnsafeCell::new(0), lock: Mutex::new(()) })
    }

    /// One operation; true if it was made as the owner.
    fn add(&self, slot: Option<&'static Slot>) -> bool {
        // SAFETY: each model's thread uses its own slot, one operation at a time.
        match unsafe { self.bias.enter(slot) } {
            Access::Owner(section) => {
                let _section = (!is_broken(Broken::BiasLeave)).then_some(section);
                self.touch();
                true
            }
            Access::Shared => {
                let _held = self.lock.lock().unwrap();
                self.touch();
                false
            }
        }
    }

    fn touch(&self) {
        // SAFETY: loom checks that no other thread is here meanwhile.
        self.count.with_mut(|count| unsafe { *count += 1 });
    }

    /// The count, after all other threads have ended.
    fn count(&self) -> u32 {
        // SAFETY: all other threads have ended; loom checks that.
        self.count.with(|count| unsafe { *count })
    }
}

/// Records `count` revocations of the owner's objects in this window.
fn stir(lease: &Lease, count: u32) {
    for _ in 0..count {
        lease.slot().bulk_revocation.is_due();
    }
}

/// Makes the owner's next revocation end its epoch.
fn bulk_revocation_is_near(lease: &Lease) {
    stir(lease, CALM - 1);
}

/// Runs `body` on a new thread with a slot that it gives back. (The slot is taken here, which saves the
/// checker many states.)
fn worker<R: 'static>(body: impl FnOnce(&'static Slot) -> R + 'static) -> thread::JoinHandle<R> {
    let lease = Lease::take().unwrap();
    thread::spawn(move || body(lease.slot()))
}

fn outsider_against_owner() {
    let object = Object::new();
    let lease = Lease::take().unwrap();
    assert!(object.add(Some(lease.slot())));
    let theirs = object.clone();
    let outsider = thread::spawn(move || assert!(!theirs.add(None)));
    object.add(Some(lease.slot()));
    outsider.join().unwrap();
    assert!(!object.add(Some(lease.slot())), "SHARED is for good");
    assert_eq!(object.count(), 4);
}

fn two_outsiders_against_owner() {
    let object = Object::new();
    let lease = Lease::take().unwrap();
    object.add(Some(lease.slot()));
    let outsiders = [object.clone(), object.clone()].map(|object| thread::spawn(move || object.add(None)));
    object.add(Some(lease.slot()));
    for outsider in outsiders {
        assert!(!outsider.join().unwrap());
    }
    assert_eq!(object.count(), 4);
}

fn outsider_while_owner_is_in_another() {
    let (object, other) = (Object::new(), Object::new());
    let lease = Lease::take().unwrap();
    object.add(Some(lease.slot()));
    assert!(other.add(Some(lease.slot())));
    let theirs = object.clone();
    let outsider = thread::spawn(move || theirs.add(None));
    object.add(Some(lease.slot()));
    assert!(other.add(Some(lease.slot())), "only one of them is taken from the owner");
    outsider.join().unwrap();
    assert_eq!((object.count(), other.count()), (3, 2));
}

/// An outsider ends the owner's epoch by taking one object, and then comes to another object.
fn epoch_ends_while_owner_works() {
    let (object, other) = (Object::new(), Object::new());
    let lease = Lease::take().unwrap();
    bulk_revocation_is_near(&lease);
    object.add(Some(lease.slot()));
    other.add(Some(lease.slot()));
    let theirs = (object.clone(), other.clone());
    let outsider = thread::spawn(move || (theirs.0.add(None), theirs.1.add(None)));
    other.add(Some(lease.slot()));
    assert_eq!(outsider.join().unwrap(), (false, false));
    assert_eq!((object.count(), other.count()), (2, 3));
}

/// As `epoch_ends_while_owner_works`, but a third thread comes to the other object.
fn epoch_ends_while_others_come() {
    let (object, other) = (Object::new(), Object::new());
    let lease = Lease::take().unwrap();
    bulk_revocation_is_near(&lease);
    object.add(Some(lease.slot()));
    other.add(Some(lease.slot()));
    let outsiders = [object.clone(), other.clone()].map(|object| thread::spawn(move || object.add(None)));
    other.add(Some(lease.slot()));
    for outsider in outsiders {
        assert!(!outsider.join().unwrap());
    }
    assert_eq!((object.count(), other.count()), (2, 3));
}

#[test]
fn owner_then_outsider_then_owner() {
    check(outsider_against_owner);
}

#[test]
fn two_workers_come_to_an_unused_object() {
    check_bounded(5, || {
        let object = Object::new();
        let theirs = object.clone();
        let other = worker(move |slot| (theirs.add(Some(slot)), theirs.add(Some(slot))));
        let lease = Lease::take().unwrap();
        object.add(Some(lease.slot()));
        other.join().unwrap();
        assert_eq!(object.count(), 3);
    });
}

#[test]
fn worker_and_outsider_come_to_an_unused_object() {
    check_bounded(5, || {
        let object = Object::new();
        let theirs = object.clone();
        let outsider = thread::spawn(move || theirs.add(None));
        let lease = Lease::take().unwrap();
        object.add(Some(lease.slot()));
        object.add(Some(lease.slot()));
        assert!(!outsider.join().unwrap());
        assert_eq!(object.count(), 3);
    });
}

/// Three threads at two preemptions, or at one where all may wait: with more, the checker explores the
/// waiting without end.
#[test]
fn two_revokers_at_once() {
    check_bounded(2, two_outsiders_against_owner);
}

#[test]
fn worker_and_outsider_revoke_at_once() {
    check_bounded(2, || {
        let object = Object::new();
        let lease = Lease::take().unwrap();
        object.add(Some(lease.slot()));
        let (first, second) = (object.clone(), object.clone());
        let other = worker(move |slot| first.add(Some(slot)));
        let outsider = thread::spawn(move || second.add(None));
        object.add(Some(lease.slot()));
        assert!(!other.join().unwrap());
        assert!(!outsider.join().unwrap());
        assert_eq!(object.count(), 4);
    });
}

#[test]
fn owner_of_two_objects_loses_one() {
    check(outsider_while_owner_is_in_another);
}

#[test]
fn two_workers_take_each_others_objects() {
    check_bounded(2, || {
        let (mine, theirs) = (Object::new(), Object::new());
        let lease = Lease::take().unwrap();
        mine.add(Some(lease.slot()));
        let (first, second) = (theirs.clone(), mine.clone());
        let other = worker(move |slot| {
            first.add(Some(slot));
            second.add(Some(slot));
        });
        theirs.add(Some(lease.slot()));
        mine.add(Some(lease.slot()));
        other.join().unwrap();
        assert_eq!((mine.count(), theirs.count()), (3, 2));
    });
}

#[test]
fn epoch_ends_in_a_storm() {
    check_bounded(5, epoch_ends_while_owner_works);
}

#[test]
fn epoch_ends_in_a_storm_while_others_come() {
    check_bounded(1, epoch_ends_while_others_come);
}

#[test]
fn at_the_height_of_a_storm_nothing_is_owned_again() {
    check(|| {
        let (object, other) = (Object::new(), Object::new());
        let lease = Lease::take().unwrap();
        object.add(Some(lease.slot()));
        other.add(Some(lease.slot()));
        stir(&lease, 2 * CALM - 1);
        let theirs = object.clone();
        let outsider = thread::spawn(move || theirs.add(None));
        outsider.join().unwrap();
        assert!(!other.add(Some(lease.slot())));
        assert!(!Object::new().add(Some(lease.slot())));
        assert_eq!((object.count(), other.count()), (2, 2));
    });
}

#[test]
fn worker_ends_while_an_outsider_comes() {
    check(|| {
        let object = Object::new();
        let theirs = object.clone();
        let ended = worker(move |slot| (theirs.add(Some(slot)), theirs.add(Some(slot))));
        assert!(!object.add(None));
        ended.join().unwrap();
        assert_eq!(object.count(), 3);
    });
}

/// Both workers may have the same slot, one after the other.
#[test]
fn next_worker_in_the_slot_and_an_outsider() {
    check_bounded(2, || {
        let object = Object::new();
        let workers = [object.clone(), object.clone()]
            .map(|object| thread::spawn(move || object.add(Some(Lease::take().unwrap().slot()))));
        object.add(None);
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(object.count(), 3);
    });
}

/// The revoker has read the old worker's epoch when the next worker comes.
#[test]
fn next_worker_in_the_slot_uses_its_objects() {
    check_bounded(5, || {
        let (object, other) = (Object::new(), Object::new());
        let lease = Lease::take().unwrap();
        object.add(Some(lease.slot()));
        other.add(Some(lease.slot()));
        let theirs = object.clone();
        let outsider = thread::spawn(move || theirs.add(None));
        drop(lease);
        let lease = Lease::take().unwrap();
        assert!(other.add(Some(lease.slot())));
        object.add(Some(lease.slot()));
        outsider.join().unwrap();
        assert_eq!((object.count(), other.count()), (3, 2));
    });
}

#[test]
fn without_the_owners_barrier_it_is_caught() {
    must_fail(Broken::LightBarrier, outsider_against_owner);
}

#[test]
fn without_the_revokers_barrier_it_is_caught() {
    must_fail(Broken::HeavyBarrier, outsider_against_owner);
}

#[test]
fn without_waiting_for_the_owner_it_is_caught() {
    must_fail(Broken::NoWait, outsider_against_owner);
}

#[test]
fn a_relaxed_entry_is_caught() {
    must_fail(Broken::BiasEntry, outsider_while_owner_is_in_another);
}

#[test]
fn a_relaxed_exit_is_caught() {
    must_fail(Broken::BiasExit, outsider_against_owner);
}

#[test]
fn a_look_at_the_word_before_the_announcement_is_caught() {
    must_fail(Broken::BiasLook, outsider_against_owner);
}

#[test]
fn an_exit_before_the_last_store_is_caught() {
    must_fail(Broken::BiasLeave, outsider_against_owner);
}

#[test]
fn not_waiting_for_the_end_of_a_revocation_is_caught() {
    must_fail(Broken::BiasHaste, two_outsiders_against_owner);
}

#[test]
fn shared_before_the_owner_is_outside_is_caught() {
    must_fail(Broken::BiasEarly, two_outsiders_against_owner);
}

#[test]
fn a_relaxed_shared_is_caught() {
    must_fail(Broken::BiasShared, two_outsiders_against_owner);
}

#[test]
fn a_epoch_that_ends_while_the_owner_is_in_another_object_is_caught() {
    must_fail(Broken::BiasAny, epoch_ends_while_owner_works);
}

#[test]
fn a_epoch_that_is_over_too_early_is_caught() {
    must_fail(Broken::BiasStale, epoch_ends_while_others_come);
}

#[test]
fn a_relaxed_end_of_a_epoch_is_caught() {
    must_fail(Broken::BiasOver, epoch_ends_while_others_come);
}
