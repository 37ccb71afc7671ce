//! The MVar: a place that is full or empty, as in Concurrent Haskell.
//!
//! Invariant: while it is full, one taker is granted the value or none waits; while it is empty, one putter
//! is granted the place or none waits ([`gate`](super::gate)). A reader takes the value out for as long as it
//! clones it, and puts it back before anybody else can have it (LENT), because a clone is the program's and
//! must not run under the lock.

use super::gate::{Gate, Interrupted, Place, Section, or_cancelled};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TAKERS: usize = 0;
const PUTTERS: usize = 1;
const TAKE: Place = Place::new(TAKERS, Wait::Take);
const PUT: Place = Place::new(PUTTERS, Wait::Put);
/// Readers go before takers: the value is there for those behind them.
const READ: Place = Place { in_front: true, ..TAKE };

/// A place for one value: [`take`](Self::take) waits until it is full, [`put`](Self::put) until it is empty.
/// Clones are the same place.
///
/// A channel of one value, a lock around one, a signal: what Concurrent Haskell builds everything from. Who
/// waits is served in order of arrival and woken one at a time; a value that is put goes to the first taker,
/// and nobody can overtake it.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let count = lamprey::MVar::new(0); // as a lock around a number
/// let hosts: Vec<_> = (0..10)
///     .map(|_| {
///         let count = count.clone();
///         lamprey::spawn(move || count.put(count.take().unwrap() + 1).unwrap())
///     })
///     .collect();
/// hosts.into_iter().for_each(|host| host.join().unwrap());
/// assert_eq!(count.take(), Ok(10));
/// # });
/// ```
pub struct MVar<T>(Arc<Gate<Cell<T>>>);

/// A call of an [`MVar`] would have had to wait, and could not: its time is over, or the caller is a host
/// that is unwinding from a panic. A value that was to be put comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotNow<V = ()>(
    /// What was not put.
    pub V,
);

enum Cell<T> {
    Empty,
    Full(T),
    /// A reader clones the value.
    Lent,
}

impl<T> Cell<T> {
    fn take(&mut self) -> Option<T> {
        match std::mem::replace(self, Self::Empty) {
            Self::Full(value) => Some(value),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// One try to take.
#[cfg_attr(not(debug_assertions), inline(always))]
fn take<T>(section: &mut Section<'_, Cell<T>>) -> Option<T> {
    if section.reserved(TAKERS) > 0 {
        return None;
    }
    let value = section.state.take()?;
    section.offer(PUTTERS, 1);
    Some(value)
}

/// One try to put.
#[cfg_attr(not(debug_assertions), inline(always))]
fn put<T>(section: &mut Section<'_, Cell<T>>, value: &mut Option<T>) -> Option<()> {
    if section.reserved(PUTTERS) > 0 || !matches!(section.state, Cell::Empty) {
        return None;
    }
    *section.state = Cell::Full(value.take()?);
    section.offer(TAKERS, 1);
    Some(())
}

/// One try to exchange the value for another.
#[cfg_attr(not(debug_assertions), inline(always))]
fn swap<T>(section: &mut Section<'_, Cell<T>>, value: &mut Option<T>) -> Option<T> {
    if section.reserved(TAKERS) > 0 {
        return None;
    }
    let old = section.state.take()?;
    *section.state = Cell::Full(value.take()?);
    section.offer(TAKERS, 1);
    Some(old)
}

/// A value that is being read; goes back when this is dropped.
struct Loan<'a, T> {
    gate: &'a Gate<Cell<T>>,
    value: Option<T>,
}

/// One try to borrow the value. It stays where it is for those to whom it has been granted.
#[cfg_attr(not(debug_assertions), inline(always))]
fn lend<T>(section: &mut Section<'_, Cell<T>>) -> Option<T> {
    let value = section.state.take()?;
    *section.state = Cell::Lent;
    Some(value)
}

impl<T: Clone> Loan<'_, T> {
    fn read(self) -> Option<T> {
        self.value.clone()
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        let value = &mut self.value;
        self.gate.with(|section| {
            if let Some(value) = value.take() {
                *section.state = Cell::Full(value);
                section.offer(TAKERS, 1);
            }
        });
    }
}

impl<T> MVar<T> {
    /// One with a value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Gate::new(Cell::Full(value))))
    }

    /// One without.
    pub fn empty() -> Self {
        Self(Arc::new(Gate::new(Cell::Empty)))
    }

    /// Takes the value out, waiting for one if need be.
    ///
    /// # Errors
    /// [`NotNow`] if it is empty and the caller is a host that is unwinding from a panic, which must not
    /// wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&self) -> Result<T, NotNow> {
        or_cancelled(self.0.wait(TAKE, None, take).map_err(not_now))
    }

    /// [`take`](Self::take) for async code.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has taken nothing; a value that was reserved for it
    /// goes to the next taker.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take_async(&self) -> impl Future<Output = T> + use<'_, T> {
        self.0.future(TAKE, take)
    }

    /// [`take`](Self::take) as an event.
    pub fn take_evt(&self) -> FutureEvt<impl Future<Output = T> + use<'_, T>> {
        future_evt(self.take_async())
    }

    /// Takes the value out if there is one that is not reserved for a taker that waits already, nor being
    /// read at this moment.
    pub fn try_take(&self) -> Option<T> {
        coop::tried(self.0.with(take), Option::is_none)
    }

    /// As [`take`](Self::take), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`NotNow`] if it stayed empty.
    ///
    /// # Cancellation
    /// As for `take`.
    pub fn take_timeout(&self, timeout: Duration) -> Result<T, NotNow> {
        or_cancelled(self.0.wait(TAKE, time::deadline(timeout), take).map_err(not_now))
    }

    fn put_until(&self, value: T, deadline: Option<Instant>) -> Result<(), NotNow<T>> {
        let mut value = Some(value);
        let result = self.0.wait(PUT, deadline, |section| put(section, &mut value));
        or_cancelled(match (result, value) {
            (Err(_), Some(value)) => Err(NotNow(value)),
            _ => Ok(()),
        })
    }

    /// Puts `value` in, waiting until it is empty if need be.
    ///
    /// # Errors
    /// [`NotNow`] with the value if it is full and the caller is a host that is unwinding from a panic, which
    /// must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; the value has then not been put, and is dropped.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put(&self, value: T) -> Result<(), NotNow<T>> {
        self.put_until(value, None)
    }

    /// [`put`](Self::put) for async code.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the value has not been put, and is dropped with it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put_async(&self, value: T) -> impl Future<Output = ()> + use<'_, T> {
        let mut value = Some(value);
        self.0.future(PUT, move |section| put(section, &mut value))
    }

    /// [`put`](Self::put) as an event. If another is chosen, `value` is dropped with it.
    pub fn put_evt(&self, value: T) -> FutureEvt<impl Future<Output = ()> + use<'_, T>> {
        future_evt(self.put_async(value))
    }

    /// Puts `value` in if it is empty and nobody has waited for that.
    ///
    /// # Errors
    /// `value` itself.
    pub fn try_put(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.0.with(|section| put(section, &mut value));
        coop::tried(value.map_or(Ok(()), Err), Result::is_err)
    }

    /// As [`put`](Self::put), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`NotNow`] with the value if it stayed full.
    ///
    /// # Cancellation
    /// As for `put`.
    pub fn put_timeout(&self, value: T, timeout: Duration) -> Result<(), NotNow<T>> {
        self.put_until(value, time::deadline(timeout))
    }

    /// Exchanges the value for `value` in one step, waiting for one as [`take`](Self::take) does; no putter
    /// comes in between.
    ///
    /// # Errors
    /// [`NotNow`] with `value` if it is empty and the caller is a host that is unwinding from a panic.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn swap(&self, value: T) -> Result<T, NotNow<T>> {
        let mut value = Some(value);
        let result = self.0.wait(TAKE, None, |section| swap(section, &mut value));
        or_cancelled(match (result, value) {
            (Ok(old), _) => Ok(old),
            (Err(_), Some(value)) => Err(NotNow(value)),
            (Err(_), None) => crate::bug::bug!("a swap that failed has put its value"),
        })
    }

    /// [`swap`](Self::swap) for async code.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, nothing has changed, and `value` is dropped with it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn swap_async(&self, value: T) -> impl Future<Output = T> + use<'_, T> {
        let mut value = Some(value);
        self.0.future(TAKE, move |section| swap(section, &mut value))
    }

    /// [`swap`](Self::swap) as an event. If another is chosen, `value` is dropped with it.
    pub fn swap_evt(&self, value: T) -> FutureEvt<impl Future<Output = T> + use<'_, T>> {
        future_evt(self.swap_async(value))
    }

    /// True if it is empty now; a value that is being read counts.
    pub fn is_empty(&self) -> bool {
        self.0.with(|section| matches!(section.state, Cell::Empty))
    }

    fn loan(&self, value: T) -> Loan<'_, T> {
        Loan { gate: &self.0, value: Some(value) }
    }
}

impl<T: Clone> MVar<T> {
    /// A clone of the value, waiting for one if need be; before all takers that wait. It is not taken out:
    /// who comes while it is being cloned waits for that. (A `clone` that itself uses the variable waits for
    /// ever.)
    ///
    /// # Errors
    /// As [`take`](Self::take).
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn read(&self) -> Result<T, NotNow> {
        let value = or_cancelled(self.0.wait(READ, None, lend).map_err(not_now))?;
        self.loan(value).read().ok_or(NotNow(()))
    }

    /// [`read`](Self::read) for async code.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn read_async(&self) -> T {
        loop {
            let value = self.0.future(READ, lend).await;
            if let Some(value) = self.loan(value).read() {
                return value;
            }
        }
    }

    /// [`read`](Self::read) as an event.
    pub fn read_evt(&self) -> FutureEvt<impl Future<Output = T> + use<'_, T>> {
        future_evt(self.read_async())
    }

    /// A clone of the value if there is one, and nobody else is reading it at this moment.
    pub fn try_read(&self) -> Option<T> {
        let value = coop::tried(self.0.with(lend), Option::is_none)?;
        self.loan(value).read()
    }
}

fn not_now(_: Interrupted) -> NotNow {
    NotNow(())
}

impl<T> Clone for MVar<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// An empty one.
impl<T> Default for MVar<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> fmt::Debug for MVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MVar").field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}

impl<V> fmt::Debug for NotNow<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotNow(..)")
    }
}

impl<V> fmt::Display for NotNow<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call would have had to wait on, and could not")
    }
}

impl<V> std::error::Error for NotNow<V> {}
