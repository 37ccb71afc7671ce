//! `retry`, `check`, `or_else`: transactions that wait, and what they do instead.

use super::transaction::Transaction;
use super::{Abort, StmResult};

/// The transaction cannot go on with what it has read: undo it, and run it again once another thread has
/// changed one of the variables that it has read.
///
/// # Examples
/// ```
/// use lamprey::stm::{StmResult, TVar, Transaction, retry};
/// fn take(place: &TVar<Option<u8>>, tx: &mut Transaction) -> StmResult<u8> {
///     match place.replace(tx, None)? {
///         Some(value) => Ok(value),
///         None => retry(),
///     }
/// }
/// # let place = TVar::new(Some(3));
/// assert_eq!(lamprey::stm::atomically(|tx| take(&place, tx)), 3);
/// ```
///
/// # Errors
/// Always; hand it on by `?` or `return`. What swallows it goes on as if it had not been called.
pub fn retry<T>() -> StmResult<T> {
    Err(Abort::RETRY)
}

/// [`retry`], unless `is_true`.
///
/// # Examples
/// See [`atomically`](super::atomically).
///
/// # Errors
/// If `is_true` is false; hand it on by `?`.
#[inline]
#[doc(alias = "guard")]
pub fn check(is_true: bool) -> StmResult<()> {
    if is_true { Ok(()) } else { retry() }
}

/// Runs `first`; if that [retries](retry), forgets what it has written, and runs `second` instead. If both
/// retry, the transaction waits for what either of them has read.
///
/// # Examples
/// ```
/// use lamprey::stm::{TVar, atomically, check, or_else};
/// let (small, large) = (TVar::new(0), TVar::new(9));
/// let pay = |from: &TVar<i32>, tx: &mut _| {
///     from.modify(tx, |n| n - 5)?;
///     check(from.get(tx)? >= 0)
/// };
/// atomically(|tx| or_else(tx, |tx| pay(&small, tx), |tx| pay(&large, tx)));
/// assert_eq!((small.get_now(), large.get_now()), (0, 4));
/// ```
///
/// # Errors
/// Those of `second`; those of `first`, unless it has retried.
pub fn or_else<T>(
    tx: &mut Transaction,
    first: impl FnOnce(&mut Transaction) -> StmResult<T>,
    second: impl FnOnce(&mut Transaction) -> StmResult<T>,
) -> StmResult<T> {
    let level = tx.log.open();
    match first(tx) {
        Err(Abort::RETRY) if !tx.is_doomed() => {
            tx.log.undo(level);
            second(tx)
        }
        result => {
            tx.log.keep(level);
            result
        }
    }
}
