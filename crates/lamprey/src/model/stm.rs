//! Transactions: no update is lost, no half of a commit is seen, no two commits miss each other.
//!
//! Variables, log and commit are the real ones. A thread of the model takes a seat; it runs its code until that
//! commits, as `stm::run` does.

use super::gate::Quiet;
use super::{Broken, check_bounded, must_fail};
use crate::stm::local::Local;
use crate::stm::seat::Seats;
use crate::stm::stamp::Stamp;
use crate::stm::transaction::Transaction;
use crate::stm::{StmResult, TVar};
use crate::sync_shim::thread;
use std::ptr::NonNull;
use std::sync::Arc;

/// A thread's part of a model.
pub(super) struct Actor(Quiet<Local>);

impl Actor {
    pub(super) fn new(seats: &Arc<Seats>) -> Self {
        Self(Quiet::new(Local::new(Arc::clone(seats))))
    }

    /// Runs `code` once; its result, if that has committed.
    pub(super) fn try_once<T>(
        &self,
        has_priority: bool,
        code: impl FnOnce(&mut Transaction) -> StmResult<T>,
    ) -> Option<T> {
        // SAFETY: this actor's own.
        let mut tx = unsafe { Transaction::begin(NonNull::from(&*self.0), has_priority) };
        let value = code(&mut tx).ok()?;
        tx.commit_and_wake().then_some(value)
    }

    /// The stamp of an end.
    fn stamp(&self) -> Stamp {
        self.0.stamp_of_end()
    }

    /// Runs `code` until it commits.
    pub(super) fn atomically<T>(&self, code: impl Fn(&mut Transaction) -> StmResult<T>) -> T {
        loop {
            match self.try_once(false, &code) {
                Some(value) => return value,
                None => thread::yield_now(),
            }
        }
    }
}

pub(super) fn seats() -> Arc<Seats> {
    Arc::new(Seats::new())
}

fn two() -> (TVar<u32>, TVar<u32>) {
    (TVar::new(0), TVar::new(0))
}

fn both_count() {
    let seats = seats();
    let counter = TVar::new(0u32);
    let (theirs, other) = (counter.clone(), seats.clone());
    let thread = thread::spawn(move || Actor::new(&other).atomically(|tx| theirs.modify(tx, |n| n + 1)));
    Actor::new(&seats).atomically(|tx| counter.modify(tx, |n| n + 1));
    thread.join().unwrap();
    assert_eq!(counter.get_now(), 2);
}

#[test]
fn no_update_is_lost() {
    check_bounded(3, both_count);
}

/// Each reads what the other writes; in no order can both have found 0.
fn write_skew() {
    let seats = seats();
    let (a, b) = two();
    let (mine, yours, other) = (a.clone(), b.clone(), seats.clone());
    let thread = thread::spawn(move || {
        Actor::new(&other).atomically(|tx| {
            let free = yours.get(tx)? == 0;
            mine.set(tx, u32::from(free))
        });
    });
    Actor::new(&seats).atomically(|tx| {
        let free = a.get(tx)? == 0;
        b.set(tx, u32::from(free))
    });
    thread.join().unwrap();
    assert_eq!(a.get_now() + b.get_now(), 1);
}

#[test]
fn of_two_commits_that_read_what_the_other_writes_one_sees_it() {
    check_bounded(3, write_skew);
}

/// A reader must never have seen two values that were not there at one moment, also when it fails.
fn opacity(is_backwards: bool) {
    let seats = seats();
    let (mut a, mut b) = two();
    let (mine, yours, other) = (a.clone(), b.clone(), seats.clone());
    let thread = thread::spawn(move || {
        Actor::new(&other).atomically(|tx| {
            mine.modify(tx, |n| n + 1)?;
            yours.modify(tx, |n| n + 1)
        });
    });
    if is_backwards {
        std::mem::swap(&mut a, &mut b);
    }
    let reader = Actor::new(&seats);
    for _ in 0..2 {
        reader.try_once(false, |tx| {
            let (first, second) = (a.get(tx)?, b.get(tx)?);
            assert_eq!(first, second, "a half of a commit was seen");
            Ok(())
        });
    }
    thread.join().unwrap();
}

#[test]
fn no_half_of_a_commit_is_seen() {
    check_bounded(3, || opacity(false));
    check_bounded(3, || opacity(true));
}

/// As [`opacity`], with commits that the reader learns of by looking at the clocks of the seats.
fn opacity_of_many() {
    let seats = seats();
    let (a, b) = two();
    let (mine, yours, other) = (a.clone(), b.clone(), seats.clone());
    let thread = thread::spawn(move || {
        let actor = Actor::new(&other);
        for n in 1..=2 {
            actor.atomically(|tx| {
                mine.set(tx, n)?;
                yours.set(tx, n)
            });
        }
        // The last commit of a seat may be under way: only those before it are known from its clock.
        let _ = actor.stamp();
    });
    Actor::new(&seats).try_once(false, |tx| {
        let (first, second) = (a.get(tx)?, b.get(tx)?);
        assert_eq!(first, second, "a half of a commit was seen");
        Ok(())
    });
    thread.join().unwrap();
}

#[test]
fn no_half_of_a_commit_is_seen_by_who_looks_at_the_clocks() {
    check_bounded(3, opacity_of_many);
}

/// The other commit is known from one variable, and its other one must then be seen too.
fn chain() {
    let seats = seats();
    let (a, b) = two();
    let (mine, yours, other) = (a.clone(), b.clone(), seats.clone());
    let thread = thread::spawn(move || {
        let actor = Actor::new(&other);
        actor.atomically(|tx| mine.set(tx, 1));
        actor.atomically(|tx| yours.set(tx, 1));
    });
    Actor::new(&seats).try_once(false, |tx| {
        let (first, second) = (a.get(tx)?, b.get(tx)?);
        assert!(first >= second, "the second commit was seen, and not the first");
        Ok(())
    });
    thread.join().unwrap();
}

#[test]
fn commits_are_seen_in_their_order() {
    check_bounded(3, chain);
}

/// A value that is shared by reference count is read while it is replaced.
#[test]
fn a_shared_value_is_alive_while_it_is_read() {
    check_bounded(3, || {
        let seats = seats();
        let name = TVar::new(String::from("a"));
        let (theirs, other) = (name.clone(), seats.clone());
        let thread = thread::spawn(move || Actor::new(&other).atomically(|tx| theirs.set(tx, "b".into())));
        let seen = Actor::new(&seats).atomically(|tx| name.get(tx));
        assert!(seen == "a" || seen == "b");
        thread.join().unwrap();
        assert_eq!(name.get_now(), "b");
    });
}

/// The memory of a variable becomes another one while a transaction is about to write to the first.
fn memory_is_used_again() {
    let seats = seats();
    let first = Quiet::new(TVar::new(0u32));
    let (theirs, other) = (TVar::clone(&first), seats.clone());
    let thread = thread::spawn(move || {
        Actor::new(&other).try_once(false, |tx| {
            theirs.set(tx, 1)?;
            drop(theirs);
            Ok(())
        });
    });
    let second = first.begin_anew(7, Actor::new(&seats).stamp());
    thread.join().unwrap();
    assert!(second.is_none_or(|second| second.get_now() == 7), "the other variable was written");
}

#[test]
fn memory_that_is_used_again_is_not_written_through_old_pointers() {
    check_bounded(3, memory_is_used_again);
}

/// One has the priority: nothing that it has read changes, so its first attempt commits.
fn priority() {
    let seats = seats();
    let counter = Quiet::new(TVar::new(0u32));
    let (theirs, other) = (Quiet::new(TVar::clone(&counter)), seats.clone());
    let thread = thread::spawn(move || Actor::new(&other).atomically(|tx| theirs.modify(tx, |n| n + 1)));
    let done = Actor::new(&seats).try_once(true, |tx| counter.modify(tx, |n| n + 1));
    assert!(done.is_some(), "another commit came between");
    thread.join().unwrap();
    assert_eq!(counter.get_now(), 2);
}

#[test]
fn who_has_the_priority_commits_at_once() {
    check_bounded(3, priority);
}

#[test]
fn a_lock_that_ignores_the_stamp_is_caught() {
    must_fail(Broken::StmStamp, memory_is_used_again);
}

#[test]
fn a_commit_that_does_not_check_its_reads_is_caught() {
    must_fail(Broken::StmValidate, write_skew);
}

#[test]
fn a_commit_without_a_fence_is_caught() {
    must_fail(Broken::StmFence, write_skew);
}

#[test]
fn a_read_that_does_not_check_the_earlier_ones_is_caught() {
    must_fail(Broken::StmExtend, || opacity(false));
}

#[test]
fn a_look_at_the_clocks_after_the_check_is_caught() {
    must_fail(Broken::StmOver, opacity_of_many);
}

#[test]
fn a_read_that_does_not_look_again_is_caught() {
    must_fail(Broken::StmTorn, || opacity(true));
}

#[test]
fn a_commit_without_a_barrier_before_its_look_at_the_priority_is_caught() {
    must_fail(Broken::LightBarrier, priority);
}

#[test]
fn a_priority_without_a_barrier_is_caught() {
    must_fail(Broken::HeavyBarrier, priority);
}
