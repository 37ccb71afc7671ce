//! The IVar: a variable that is written once and read by anyone, as often as they like.
//!
//! Invariant: the value is in its place before those who wait are woken, and who queues has looked under the
//! lock, so either it sees the value or it is woken. Reading does not need the lock.

use super::gate::{Gate, Interrupted, Op, Place, Section, named_future};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const READERS: usize = 0;
const READ: Place = Place::new(READERS, Wait::Full);

/// A variable that is empty until it is written, once; readers wait for that. Clones are the same variable.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let answer = lamprey::IVar::new();
/// let theirs = answer.clone();
/// let reader = lamprey::spawn(move || theirs.get() + 1);
/// assert_eq!(answer.put(41), Ok(()));
/// assert_eq!(answer.put(7), Err(7));
/// assert_eq!((reader.join().unwrap(), answer.get()), (42, 41));
/// # });
/// ```
pub struct IVar<T>(Arc<Var<T>>);

struct Var<T> {
    value: OnceLock<T>,
    gate: Gate<()>,
}

impl<T> IVar<T> {
    /// An empty one.
    pub fn new() -> Self {
        Self(Arc::new(Var { value: OnceLock::new(), gate: Gate::new(()) }))
    }

    /// Writes the value, and wakes all who wait for it.
    ///
    /// # Errors
    /// `value` itself if the variable is full.
    ///
    /// # Blocking
    /// Never.
    pub fn put(&self, value: T) -> Result<(), T> {
        self.0.value.set(value)?;
        self.0.gate.with(|section| section.wake_all(READERS));
        Ok(())
    }

    /// The value, in its place, if there is one.
    pub fn try_get_ref(&self) -> Option<&T> {
        self.0.value.get()
    }

    /// The value in its place; waits until there is one.
    ///
    /// # Panics
    /// If the variable is empty and the caller is a host that is unwinding from a panic, which must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn get_ref(&self) -> &T {
        self.get_until(None).unwrap_or_else(|error| match error {
            Interrupted::Unwinding => panic!("a host that is unwinding must not wait for an empty IVar"),
            Interrupted::TimedOut => crate::bug::bug!("a wait without a deadline timed out"),
        })
    }

    /// As [`get_ref`](Self::get_ref), waiting at most `timeout`; `None` after that, and where `get_ref`
    /// panics.
    ///
    /// # Cancellation
    /// As for `get_ref`.
    pub fn get_ref_timeout(&self, timeout: Duration) -> Option<&T> {
        self.get_until(time::deadline(timeout)).ok()
    }

    /// [`get_ref`](Self::get_ref) for async code.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn get_ref_async(&self) -> GetRefFuture<'_, T> {
        GetRefFuture(self.0.gate.future(READ, GetOp(&self.0.value)))
    }

    /// [`get_ref`](Self::get_ref) as an event.
    pub fn get_ref_evt(&self) -> FutureEvt<GetRefFuture<'_, T>> {
        future_evt(self.get_ref_async())
    }

    fn get_until(&self, deadline: Option<Instant>) -> Result<&T, Interrupted> {
        coop::call(coop::MESSAGE);
        match self.0.value.get() {
            Some(value) => Ok(value),
            None => self.0.gate.wait(READ, deadline, |_| self.0.value.get()),
        }
    }
}

impl<T: Clone> IVar<T> {
    /// A clone of the value, if there is one.
    pub fn try_get(&self) -> Option<T> {
        self.try_get_ref().cloned()
    }

    /// A clone of the value; waits until there is one.
    ///
    /// # Panics
    /// As [`get_ref`](Self::get_ref).
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn get(&self) -> T {
        self.get_ref().clone()
    }

    /// As [`get`](Self::get), waiting at most `timeout`; see [`get_ref_timeout`](Self::get_ref_timeout).
    ///
    /// # Cancellation
    /// As for `get`.
    pub fn get_timeout(&self, timeout: Duration) -> Option<T> {
        self.get_ref_timeout(timeout).cloned()
    }

    /// [`get`](Self::get) for async code.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn get_async(&self) -> GetFuture<'_, T> {
        GetFuture(self.0.gate.future(READ, GetOp(&self.0.value)))
    }

    /// [`get`](Self::get) as an event.
    pub fn get_evt(&self) -> FutureEvt<GetFuture<'_, T>> {
        future_evt(self.get_async())
    }
}

/// One look at the value.
struct GetOp<'a, T>(&'a OnceLock<T>);

impl<'a, T> Op<()> for GetOp<'a, T> {
    type Output = &'a T;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, _: &mut Section<'_, ()>) -> Option<&'a T> {
        self.0.get()
    }
}

named_future! {
    /// The future of [`IVar::get_ref_async`].
    GetRefFuture<'a, T>((), GetOp<'a, T>) -> &'a T
}

named_future! {
    /// The future of [`IVar::get_async`].
    GetFuture<'a, T: Clone>((), GetOp<'a, T>) -> T, T::clone
}

impl<T> Clone for IVar<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for IVar<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for IVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IVar").field(&self.try_get_ref()).finish()
    }
}
