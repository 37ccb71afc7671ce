//! Running a transaction until it commits: [`atomically`] and its forms.
//!
//! # Invariants
//! 1. The code of a transaction runs with nothing locked, and cannot switch.
//! 2. No code of the program runs between `begin` and `end` of a transaction but the closure: no destructor of a value
//!    that it has written, read or returned. Before it waits, runs again, or returns, the attempt has ended, and these
//!    values have been dropped.
//! 3. **Progress.** A commit fails only because another one has succeeded in between (or because the last
//!    handle of a variable that it has read went). One that has failed [`MANY`] times, or has read [`MUCH`]
//!    in vain, runs with the priority ([`Seats::prefer`](super::seat::Seats::prefer)): nothing changes
//!    while it runs.

use super::alternative::or_else;
use super::local;
use super::transaction::Transaction;
use super::waiting::{Register, Registered, register};
use super::{Abort, StmResult};
use crate::bug::quietly;
use crate::channel::gate::Interrupted;
use crate::sched::cancel::open;
use crate::sched::{coop, guard};
use crate::sync_shim::back_off;
use crate::time;
#[cfg(not(loom))]
use crate::world::buggify;
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
    // Open: a generator that is suspended within ends the process, as another thread could resume it.
    let unwanted = match guard::no_switch_briefly("a transaction", || open(|| code(&mut tx))) {
        // In a simulation no other thread runs meanwhile, so it would never run twice.
        #[cfg(not(loom))]
        Ok(value) if buggify!("a transaction that runs again") => Some(value),
        Ok(value) => match tx.commit_and_wake() {
            true => return Attempt::Done(value),
            false => Some(value),
        },
        Err(Abort::RETRY) if !tx.is_doomed() => return retry(&mut tx, is_future),
        Err(_) => None,
    };
    failures.read += tx.reads().len();
    // The transaction ends before the result goes, whose destructor is code of the program.
    drop(tx);
    quietly(|| drop(unwanted));
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

/// [`atomically`], for code that may fail: with its error nothing is written.
///
/// # Examples
/// ```
/// use lamprey::stm::{StmResult, TVar, Transaction, try_atomically};
/// #[derive(Debug, PartialEq)]
/// struct Poor;
/// let accounts = [100, 50, 0].map(TVar::new);
/// let pay = |tx: &mut Transaction, from: usize, to: usize, sum: i32| -> StmResult<Result<(), Poor>> {
///     accounts[to].modify(tx, |has| has + sum)?;
///     accounts[from].modify(tx, |has| has - sum)?;
///     Ok(if accounts[from].get(tx)? < 0 { Err(Poor) } else { Ok(()) })
/// };
/// // The second payment fails, and takes the first one back.
/// let paid = try_atomically(|tx| match pay(tx, 0, 2, 60)? {
///     Ok(()) => pay(tx, 1, 2, 60),
///     poor => Ok(poor),
/// });
/// assert_eq!(paid, Err(Poor));
/// assert_eq!(accounts.map(|account| account.get_now()), [100, 50, 0]);
/// ```
///
/// # Errors
/// That of `code`, in a run of it that has seen only what was there at one moment.
///
/// # Panics
/// As [`atomically`].
///
/// # Cancellation
/// As [`atomically`].
///
/// # Blocking
/// As [`atomically`].
#[doc(alias = "throwSTM")]
#[doc(alias = "abort")]
#[track_caller]
pub fn try_atomically<T, E>(
    mut code: impl FnMut(&mut Transaction) -> StmResult<Result<T, E>>,
) -> Result<T, E> {
    atomically(|tx| {
        let mut failed = None;
        let first = |tx: &mut Transaction| match code(tx)? {
            Ok(value) => Ok(Ok(value)),
            Err(error) => {
                failed = Some(error);
                super::retry()
            }
        };
        // An error is an alternative that is not chosen: what it has read counts, what it has written does not.
        let result = or_else(tx, first, |_| super::retry());
        // Also that of a run that cannot commit: it is dropped with its result, after the transaction.
        failed.map_or(result, |error| Ok(Err(error)))
    })
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
