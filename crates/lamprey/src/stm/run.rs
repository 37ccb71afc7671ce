//! Running a transaction until it commits: [`atomically`] and its forms.
//!
//! # Invariants
//! 1. The code of a transaction runs with nothing locked, and cannot switch.
//! 2. Before it waits, runs again, or returns, the attempt has ended: its values have been dropped, as code of
//!    the program, outside of the transaction.
//! 3. **Progress.** A commit fails only because another one has succeeded in between (or because the last
//!    handle of a variable that it has read went). One that has failed [`MANY`] times, or has read [`MUCH`]
//!    in vain, runs with the priority ([`Seats::prefer`](super::seat::Seats::prefer)): nothing changes
//!    while it runs.

use super::local;
use super::transaction::Transaction;
use super::waiting::{Register, Registered, register};
use super::{Abort, StmResult};
use crate::channel::gate::Interrupted;
use crate::sched::{coop, guard};
use crate::sync_shim::back_off;
use crate::time;
use std::time::{Duration, Instant};

/// So many failures are enough.
const MANY: u32 = 64;
/// So many variables, read in vain, are enough.
const MUCH: usize = 1 << 14;

/// What became of one attempt.
pub(super) enum Attempt<T> {
    Done(T),
    /// It is to run again.
    Conflict,
    Retry(Registered),
}

/// The failures of one transaction so far.
#[derive(Default)]
pub(super) struct Failures {
    count: u32,
    read: usize,
    rounds: u32,
}

impl Failures {
    fn are_enough(&self) -> bool {
        self.count >= MANY || self.read >= MUCH
    }

    /// Lets the others go first.
    #[cold]
    pub(super) fn back_off(&mut self) {
        self.count += 1;
        if !self.are_enough() {
            back_off(&mut self.rounds);
        }
    }
}

/// Runs the code once.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(super) fn attempt<T>(
    code: &mut impl FnMut(&mut Transaction) -> StmResult<T>,
    failures: &mut Failures,
    is_future: bool,
) -> Attempt<T> {
    // SAFETY: the calling kernel thread's.
    let mut tx = unsafe { Transaction::begin(local::current(), failures.are_enough()) };
    match guard::no_switch_briefly("a transaction", || code(&mut tx)) {
        Ok(value) if tx.commit_and_wake() => return Attempt::Done(value),
        Err(Abort::RETRY) if !tx.is_doomed() => return retry(&mut tx, is_future),
        _ => {}
    }
    failures.read += tx.reads().len();
    Attempt::Conflict
}

/// The transaction is to wait.
#[cold]
#[inline(never)]
#[track_caller]
fn retry<T>(tx: &mut Transaction, is_future: bool) -> Attempt<T> {
    tx.end();
    match register(tx.reads(), is_future) {
        Register::Waits(registered) => Attempt::Retry(registered),
        Register::Changed => Attempt::Conflict,
        Register::Never => panic!(
            "a transaction calls `retry` and has read no variable that another thread could change: it would wait for ever"
        ),
    }
}

/// Runs `code` as one transaction: all that it reads is from one moment, and all that it writes appears at
/// once, at that moment, or not at all.
///
/// Where another thread has changed what it has read, `code` runs again, so it should do nothing else but read
/// and write variables: see [the module](super). If it returns the error of [`retry`](super::retry), the
/// thread waits until a variable that it has read is changed by another thread, and then runs it again.
///
/// # Examples
/// ```
/// use lamprey::stm::{TVar, atomically, check};
///
/// lamprey::run(|| {
///     let (stock, sold) = (TVar::new(0u32), TVar::new(0u32));
///     let (theirs, also) = (stock.clone(), sold.clone());
///     let buyer = lamprey::spawn(move || {
///         atomically(|tx| {
///             check(theirs.get(tx)? >= 3)?; // waits for three
///             theirs.modify(tx, |n| n - 3)?;
///             also.modify(tx, |n| n + 3)
///         });
///     });
///     for _ in 0..3 {
///         atomically(|tx| stock.modify(tx, |n| n + 1));
///     }
///     buyer.join().unwrap();
///     assert_eq!((stock.get_now(), sold.get_now()), (0, 3));
/// });
/// ```
///
/// # Panics
/// With the panic of `code`; nothing is written then. If it is called in a transaction. If `code` retries and
/// has read no variable that another thread could change. If it would have to wait in a host that is
/// unwinding.
///
/// # Cancellation
/// A host that is cancelled while it waits unwinds from here, and nothing has been written. The time limits of
/// [`with_timeout`](crate::with_timeout) are cancellations.
///
/// # Blocking
/// Only after `retry`. A host or stackful parasite switches away; an OS thread parks.
#[inline]
#[track_caller]
pub fn atomically<T>(mut code: impl FnMut(&mut Transaction) -> StmResult<T>) -> T {
    match run(&mut code, None) {
        Some(value) => value,
        None => crate::bug::bug!("a transaction without a deadline timed out"),
    }
}

/// [`atomically`], waiting at most `timeout` in all; `None` if nothing that would let it go on has happened by
/// then.
///
/// # Examples
/// ```
/// use lamprey::stm::{TVar, atomically_timeout, check};
/// let ready = TVar::new(false);
/// let waited = atomically_timeout(std::time::Duration::from_millis(1), |tx| check(ready.get(tx)?));
/// assert_eq!(waited, None);
/// ```
///
/// # Panics
/// As for [`atomically`].
///
/// # Cancellation
/// As for [`atomically`].
///
/// # Blocking
/// As for [`atomically`].
#[track_caller]
pub fn atomically_timeout<T>(
    timeout: Duration,
    mut code: impl FnMut(&mut Transaction) -> StmResult<T>,
) -> Option<T> {
    run(&mut code, Some(time::deadline(timeout)))
}

/// `deadline`: none; or one, which may be too far away to have a time.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn run<T>(
    code: &mut impl FnMut(&mut Transaction) -> StmResult<T>,
    deadline: Option<Option<Instant>>,
) -> Option<T> {
    let mut failures = Failures::default();
    loop {
        coop::call(coop::MESSAGE);
        match attempt(code, &mut failures, false) {
            Attempt::Done(value) => return Some(value),
            Attempt::Conflict => failures.back_off(),
            Attempt::Retry(registered) => match registered.wait(deadline.flatten()) {
                Ok(()) => {}
                Err(Interrupted::TimedOut) => return None,
                Err(Interrupted::Unwinding) => unwinding(),
            },
        }
    }
}

#[cold]
fn unwinding() -> ! {
    panic!("a host that is unwinding must not wait for a variable to change")
}
