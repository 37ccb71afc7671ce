//! A transaction that waits: no commit that changes what it has read is missed, whichever comes first.
//!
//! Nodes, gate and commit are the real ones; the threads of the models block as OS threads do, and a
//! deadline may pass at any moment.

use super::gate::Quiet;
use super::stm::{Actor, seats};
use super::{Broken, check_bounded, must_fail};
use crate::stm::transaction::Transaction;
use crate::stm::waiting::{Register, register};
use crate::stm::{StmResult, TVar, check};
use crate::sync_shim::thread;
use std::time::Instant;

impl Actor {
    /// Runs `code` until it commits, waiting when it retries; `None` if the deadline passes then.
    fn wait_for<T>(
        &self,
        deadline: Option<Instant>,
        code: impl Fn(&mut Transaction) -> StmResult<T>,
    ) -> Option<T> {
        loop {
            let mut registered = None;
            let done = self.try_once(false, |tx| {
                let result = code(tx);
                if result.is_err() && !tx.is_doomed() {
                    registered = Some(register(tx.reads(), false));
                }
                result
            });
            match (done, registered) {
                (Some(value), _) => return Some(value),
                (None, Some(Register::Waits(registered))) => Quiet::new(registered).wait(deadline).ok()?,
                (None, _) => thread::yield_now(),
            }
        }
    }
}

/// One waits for what the other writes.
fn waits_for_a_commit() {
    let seats = seats();
    let ready = Quiet::new(TVar::new(0u32));
    let (theirs, other) = (Quiet::new(TVar::clone(&ready)), seats.clone());
    let thread = thread::spawn(move || Actor::new(&other).atomically(|tx| theirs.set(tx, 1)));
    Actor::new(&seats).wait_for(None, |tx| check(ready.get(tx)? == 1));
    thread.join().unwrap();
    assert!(!ready.has_waiters());
}

#[test]
fn a_commit_wakes_who_has_read_what_it_writes() {
    check_bounded(3, waits_for_a_commit);
}

/// It waits for one of two, each written by another thread.
#[test]
fn a_wait_for_two_ends_with_either_and_leaves_both() {
    check_bounded(2, || {
        let seats = seats();
        let (a, b) = (TVar::new(0u32), TVar::new(0u32));
        let (theirs, other) = (b.clone(), seats.clone());
        let thread = thread::spawn(move || Actor::new(&other).atomically(|tx| theirs.set(tx, 1)));
        Actor::new(&seats).wait_for(None, |tx| check(a.get(tx)? + b.get(tx)? == 1));
        thread.join().unwrap();
        assert!(!a.has_waiters() && !b.has_waiters());
    });
}

#[test]
fn a_wait_ends_while_a_commit_comes() {
    check_bounded(3, || {
        let seats = seats();
        let ready = TVar::new(0u32);
        let (theirs, other) = (ready.clone(), seats.clone());
        let thread = thread::spawn(move || Actor::new(&other).atomically(|tx| theirs.set(tx, 1)));
        Actor::new(&seats).wait_for(Some(Instant::now()), |tx| check(ready.get(tx)? == 1));
        thread.join().unwrap();
        assert!(!ready.has_waiters());
    });
}

#[test]
fn a_node_that_is_queued_without_a_look_at_the_stamp_is_caught() {
    must_fail(Broken::StmBlind, waits_for_a_commit);
}

#[test]
fn a_commit_that_takes_a_node_out_and_does_not_signal_is_caught() {
    must_fail(Broken::StmSignal, waits_for_a_commit);
}
