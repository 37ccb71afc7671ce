//! The IVar: a variable that is written once and read by any thread, as often as it likes.
//!
//! It is a shared [`OnceLock`] without the part that makes a value: the one face is that of a channel, whose
//! readers wait for a writer, the other that of `std`, whose readers make the value themselves.
//!
//! # Examples
//! A graph of tasks, each of which begins as soon as those that it needs have ended, whatever the order in
//! which the tasks are started.
//! ```
//! use lamprey::IVar;
//! use std::collections::HashMap;
//!
//! /// A task, what it needs, and how long it takes.
//! const TASKS: [(&str, &[&str], u64); 5] = [
//!     ("program", &["library", "main"], 3),
//!     ("library", &["config"], 5),
//!     ("main", &["config"], 2),
//!     ("config", &[], 1),
//!     ("manual", &[], 4),
//! ];
//!
//! lamprey::run(|| {
//!     let ends: HashMap<&str, IVar<u64>> = TASKS.iter().map(|task| (task.0, IVar::new())).collect();
//!     for (name, needs, length) in TASKS {
//!         let end = ends[name].clone();
//!         let needs: Vec<_> = needs.iter().map(|need| ends[need].clone()).collect();
//!         lamprey::spawn(move || {
//!             let begin = needs.iter().map(IVar::get).max().unwrap_or(0);
//!             end.put(begin + length).expect("a task ends once");
//!         });
//!     }
//!     let all = TASKS.map(|(name, ..)| ends[name].get());
//!     assert_eq!(all, [9, 6, 3, 1, 4]);
//!     assert_eq!(ends["program"].put(0), Err(0)); // it is full for ever
//! });
//! ```

// # Invariants
// Those of `Once`. Of an IVar no code runs but `IVar::put`'s, which writes the value and
// does nothing else: so a `put` that finds another one under way spins for it instead of waiting.

use super::once::{OnceLock, OnceLockWaitFuture};
use crate::channel::gate::{Interrupted, opaque};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A variable that is empty until it is written, once; readers wait for that. Clones are the same variable.
///
/// # Examples
/// For more see [the module](self).
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
#[doc(alias = "SetOnce")]
#[doc(alias = "Promise")]
#[doc(alias = "OnceCell")]
pub struct IVar<T>(Arc<OnceLock<T>>);

impl<T> IVar<T> {
    /// An empty variable.
    #[track_caller]
    pub fn new() -> Self {
        Self(Arc::new(OnceLock::new()))
    }

    /// Writes the value, and wakes all that wait for it.
    ///
    /// # Errors
    /// `value` itself if the variable is full.
    ///
    /// # Blocking
    /// Never.
    #[doc(alias = "set")]
    pub fn put(&self, value: T) -> Result<(), T> {
        coop::looked(self.0.put(value), Result::is_err)
    }

    /// True if there is a value. Unlike [`try_get`](Self::try_get) it never gives way.
    pub(crate) fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// The value, in its place, if there is one.
    pub fn try_get_ref(&self) -> Option<&T> {
        self.0.get()
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

    /// [`get_ref`](Self::get_ref), waiting at most `timeout`; `None` after that, and where `get_ref` panics.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
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
        GetRefFuture(self.0.wait_async_for(Wait::Full))
    }

    /// [`get_ref`](Self::get_ref) as an event.
    pub fn get_ref_evt(&self) -> FutureEvt<GetRefFuture<'_, T>> {
        future_evt(self.get_ref_async())
    }

    fn get_until(&self, deadline: Option<Instant>) -> Result<&T, Interrupted> {
        coop::call(coop::MESSAGE);
        self.0.wait_until(Wait::Full, deadline)
    }
}

impl<T: Clone> IVar<T> {
    /// A clone of the value, if there is one.
    #[doc(alias = "get")]
    pub fn try_get(&self) -> Option<T> {
        self.try_get_ref().cloned()
    }

    /// A clone of the value; waits until there is one.
    ///
    /// # Panics
    /// If the variable is empty and the caller is a host that is unwinding from a panic, which must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[doc(alias = "wait")]
    pub fn get(&self) -> T {
        self.get_ref().clone()
    }

    /// [`get`](Self::get), waiting at most `timeout`; see [`get_ref_timeout`](Self::get_ref_timeout).
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
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
        GetFuture(self.get_ref_async())
    }

    /// [`get`](Self::get) as an event.
    pub fn get_evt(&self) -> FutureEvt<GetFuture<'_, T>> {
        future_evt(self.get_async())
    }

    /// [`get_evt`](Self::get_evt) that owns a handle of the variable, so that a function can return it.
    pub fn into_get_evt(self) -> FutureEvt<impl Future<Output = T> + use<T>> {
        future_evt(async move { self.get_async().await })
    }
}

/// The future of [`IVar::get_ref_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct GetRefFuture<'a, T>(OnceLockWaitFuture<'a, T>);

impl<'a, T> Future for GetRefFuture<'a, T> {
    type Output = &'a T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a T> {
        // SAFETY: the field is pinned with the whole: nothing moves it out, and there is no `Drop`.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

opaque!(GetRefFuture<'a, T>);

/// The future of [`IVar::get_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct GetFuture<'a, T>(GetRefFuture<'a, T>);

impl<T: Clone> Future for GetFuture<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // SAFETY: the field is pinned with the whole: nothing moves it out, and there is no `Drop`.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx).map(T::clone)
    }
}

opaque!(GetFuture<'a, T>);

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
