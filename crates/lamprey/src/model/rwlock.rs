//! The lock for readers and writers: a writer is alone, and no thread waits for a lock that it could have,
//! whichever thread times out, is dropped, loses its choice or becomes a reader.
//!
//! Threads block as OS threads, and a deadline may pass at any moment. The locked value is a loom cell, so
//! the checker finds a writer beside readers.

use super::gate::Quiet;
use super::{Broken, check, check_bounded, must_fail};
use crate::events::{Event, choose};
use crate::sched::worker::with_strange_context;
use crate::sync::{RwLock, RwLockWriteGuard};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::future::Future;
use std::time::Duration;

/// A deadline that passes as soon as it is checked; the checker varies when that is.
const SOON: Duration = Duration::ZERO;

struct Seen(UnsafeCell<u32>);

// SAFETY: the lock orders all accesses; loom checks that.
unsafe impl Send for Seen {}
// SAFETY: the lock excludes writers while there are readers; loom checks that.
unsafe impl Sync for Seen {}

impl Seen {
    fn get(&self) -> u32 {
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.0.with(|value| unsafe { *value })
    }

    fn add_one(&self) {
        // SAFETY: loom checks that no other thread accesses it meanwhile.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }
}

type Lock = Quiet<Arc<RwLock<Seen>>>;

fn lock() -> Lock {
    Quiet::new(Arc::new(RwLock::new(Seen(UnsafeCell::new(0)))))
}

fn again(lock: &Lock) -> Lock {
    Quiet::new(Arc::clone(lock))
}

fn read(lock: &Lock) -> u32 {
    Quiet::new(lock.read().unwrap()).get()
}

fn write(lock: &Lock) {
    Quiet::new(lock.write().unwrap()).add_one();
}

fn a_reader_and_a_writer() {
    let lock = lock();
    let theirs = again(&lock);
    let writer = thread::spawn(move || write(&theirs));
    assert!(read(&lock) <= 1);
    writer.join().unwrap();
    assert_eq!(read(&lock), 1);
}

#[test]
fn a_writer_is_alone() {
    check(a_reader_and_a_writer);
    check(|| {
        let lock = lock();
        let theirs = again(&lock);
        let writer = thread::spawn(move || write(&theirs));
        write(&lock);
        writer.join().unwrap();
        assert_eq!(read(&lock), 2);
    });
}

#[test]
fn what_makes_it_so() {
    must_fail(Broken::LineExit, a_reader_and_a_writer);
    must_fail(Broken::RwCount, a_reader_and_a_writer);
}

#[test]
fn readers_and_writers_of_three_threads() {
    check_bounded(1, || {
        let lock = lock();
        let (a, b) = (again(&lock), again(&lock));
        let writer = thread::spawn(move || write(&a));
        let reader = thread::spawn(move || read(&b));
        write(&lock);
        writer.join().unwrap();
        assert!(reader.join().unwrap() <= 2);
        assert_eq!(read(&lock), 2);
    });
}

/// A waiting writer leaves; the reader behind it must not wait for it.
#[test]
fn a_writer_gives_up_before_a_reader() {
    check_bounded(1, || {
        let lock = lock();
        let guard = Quiet::new(lock.read().unwrap());
        let (a, b) = (again(&lock), again(&lock));
        let writer = thread::spawn(move || {
            a.write_timeout(SOON).is_ok_and(|seen| {
                seen.add_one();
                true
            })
        });
        let reader = thread::spawn(move || read(&b));
        drop(guard);
        let written = u32::from(writer.join().unwrap());
        assert!(reader.join().unwrap() <= written);
        assert!(lock.try_write().is_ok());
    });
}

/// A future that was handed the lock is dropped while a thread waits behind it.
fn granted_and_dropped() {
    let lock = lock();
    let guard = lock.write().unwrap();
    let theirs = again(&lock);
    let mut first = Box::pin(async move { theirs.write_async().await.is_ok() });
    assert!(with_strange_context(|cx| first.as_mut().poll(cx)).is_pending());
    let leaver = thread::spawn(move || drop(first));
    drop(guard);
    write(&lock);
    leaver.join().unwrap();
    assert!(lock.try_write().is_ok());
}

#[test]
fn a_grant_of_a_future_that_goes_is_the_next_ones() {
    check_bounded(2, granted_and_dropped);
    must_fail(Broken::LineKeep, granted_and_dropped);
}

#[test]
fn a_writer_becomes_a_reader_while_others_come() {
    check_bounded(1, || {
        let lock = lock();
        let guard = lock.write().unwrap();
        let (a, b) = (again(&lock), again(&lock));
        let reader = thread::spawn(move || read(&a));
        let writer = thread::spawn(move || write(&b));
        guard.add_one();
        let guard = RwLockWriteGuard::downgrade(guard);
        assert_eq!(guard.get(), 1);
        drop(guard);
        assert!(reader.join().unwrap() >= 1);
        writer.join().unwrap();
        assert_eq!(read(&lock), 2);
    });
}

/// A choice between two locks that both become free holds only one of them.
fn a_choice_holds_one() {
    let (a, b) = (lock(), lock());
    let (first, second) = (a.read().unwrap(), b.read().unwrap());
    let theirs = (again(&a), again(&b));
    let writer = thread::spawn(move || {
        let guard = Quiet::new(choose([theirs.0.write_evt(), theirs.1.write_evt()]).sync().unwrap());
        guard.add_one();
    });
    drop(first);
    drop(second);
    writer.join().unwrap();
    assert_eq!(read(&a) + read(&b), 1);
    assert!(a.try_write().is_ok() && b.try_write().is_ok());
}

#[test]
fn a_choice_between_two_locks_holds_one() {
    check_bounded(2, a_choice_holds_one);
    must_fail(Broken::Stale, a_choice_holds_one);
}
