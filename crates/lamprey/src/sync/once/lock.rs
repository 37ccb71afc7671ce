//! A value that is written once.
//!
//! Invariant: the place is written by whoever holds the `Running` of `once`, and by nobody once that is
//! completed.

use super::{Interrupted, Once, unwinding};
#[cfg(not(loom))]
use crate::events::{FutureEvt, future_evt};
use crate::time;
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

/// A value that is made once, by whoever needs it first; the others wait meanwhile.
///
/// If making it fails (an error, a panic, a cancelled host, a dropped future), the next one tries: it is not
/// poisoned.
///
/// # Examples
/// ```
/// use lamprey::sync::OnceLock;
/// static CONFIG: OnceLock<String> = OnceLock::new();
///
/// lamprey::run(|| {
///     let hosts: Vec<_> = (0..3).map(|_| lamprey::spawn(|| CONFIG.get_or_init(|| "x=1".into()).len())).collect();
///     assert!(hosts.into_iter().all(|host| host.join().unwrap() == 3));
/// });
/// ```
pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value may be made on one thread and dropped on another (`Send`), and is read by all (`Sync`);
// the one who writes does so before all of them (module's invariant).
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    crate::sync_shim::const_fn! {
        /// An empty one.
        ///
        /// # Examples
        /// See [`OnceLock`].
        pub const fn new() -> Self {
            Self { once: Once::new(), value: UnsafeCell::new(None) }
        }
    }

    /// The value, if it is there.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(lamprey::sync::OnceLock::<u8>::new().get(), None);
    /// ```
    ///
    /// # Blocking
    /// Never.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn get(&self) -> Option<&T> {
        if !self.once.is_completed() {
            return None;
        }
        // SAFETY: completed, so nobody writes (module's invariant).
        unsafe { &*self.value.get() }.as_ref()
    }

    /// The value, to be changed, if it is there.
    ///
    /// # Examples
    /// ```
    /// let mut place = lamprey::sync::OnceLock::from(1);
    /// *place.get_mut().unwrap() += 1;
    /// assert_eq!(place.into_inner(), Some(2));
    /// ```
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Writes the value. If another thread is making one, waits until it is known what came of that.
    ///
    /// # Examples
    /// ```
    /// let place = lamprey::sync::OnceLock::new();
    /// assert_eq!((place.set(1), place.set(2), place.get()), (Ok(()), Err(2), Some(&1)));
    /// ```
    ///
    /// # Errors
    /// `value` itself if there is one already; and if it would have to wait on a host that is unwinding.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here: the value has been dropped, and not
    /// written.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        // Who unwinds has its value back.
        let _ = self.initialise(|| Ok::<T, Infallible>(value.take().unwrap_or_else(|| unreachable!())));
        value.map_or(Ok(()), Err)
    }

    /// The value; made by `make` if it is not there.
    ///
    /// # Examples
    /// See [`OnceLock`].
    ///
    /// # Panics
    /// If `make` does: then the next one tries. If another thread is making it and the caller is a host that
    /// is unwinding, which must not wait. In debug builds, if `make` itself comes here again, which otherwise
    /// waits for ever.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here and has changed nothing. One that is
    /// cancelled in `make` has made nothing, and the next one tries.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[inline]
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let Ok(value) = self.get_or_try_init(|| Ok::<T, Infallible>(make()));
        value
    }

    /// The value; made by `make` if it is not there and `make` can.
    ///
    /// # Examples
    /// ```
    /// let port = lamprey::sync::OnceLock::<u16>::new();
    /// assert!(port.get_or_try_init(|| "many".parse()).is_err());
    /// assert_eq!(port.get_or_try_init(|| "80".parse()), Ok(&80));
    /// ```
    ///
    /// # Errors
    /// Those of `make`: then the next one tries.
    ///
    /// # Panics
    /// As [`get_or_init`](Self::get_or_init).
    ///
    /// # Cancellation
    /// As for [`get_or_init`](Self::get_or_init).
    ///
    /// # Blocking
    /// As for [`get_or_init`](Self::get_or_init).
    #[inline]
    #[track_caller]
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        self.initialise(make).unwrap_or_else(|_| unwinding())?;
        Ok(self.made())
    }

    /// [`get_or_init`](Self::get_or_init) for async code: the future that `make` gives is awaited, if need
    /// be.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let place = lamprey::sync::OnceLock::new();
    /// assert_eq!(lamprey::wait(place.get_or_init_async(|| async { 5 })), &5);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the future does: then the next one tries.
    ///
    /// # Cancellation
    /// Dropped before it is ready, it has made nothing, and the next one tries.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn get_or_init_async<F: Future<Output = T>>(&self, make: impl FnOnce() -> F) -> &T {
        let Ok(value) = self.get_or_try_init_async(|| async { Ok::<T, Infallible>(make().await) }).await;
        value
    }

    /// [`get_or_try_init`](Self::get_or_try_init) for async code.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let place = lamprey::sync::OnceLock::<u8>::new();
    /// assert_eq!(lamprey::wait(place.get_or_try_init_async(|| async { Err("not now") })), Err("not now"));
    /// # });
    /// ```
    ///
    /// # Errors
    /// Those of the future: then the next one tries.
    ///
    /// # Panics
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Cancellation
    /// As for [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn get_or_try_init_async<E, F>(&self, make: impl FnOnce() -> F) -> Result<&T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some(running) = self.once.begin_async(true).await {
            let value = make().await?;
            // SAFETY: ours to write while `running` is there (module's invariant).
            unsafe { self.value.get().write(Some(value)) };
            running.done();
        }
        Ok(self.made())
    }

    /// The value; waits until somebody has made it.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # lamprey::run(|| {
    /// let place = Arc::new(lamprey::sync::OnceLock::new());
    /// let theirs = place.clone();
    /// lamprey::spawn(move || theirs.set(5));
    /// assert_eq!(*place.wait(), 5);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If it would have to wait on a host that is unwinding.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here and has changed nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&self) -> &T {
        match self.once.wait_until(true, None) {
            Ok(()) => self.made(),
            Err(Interrupted::Unwinding) => unwinding(),
            Err(Interrupted::TimedOut) => crate::bug::bug!("a wait for a value without a deadline timed out"),
        }
    }

    /// As [`wait`](Self::wait), for `timeout` at most; `None` after that, and on a host that is unwinding.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// let place = lamprey::sync::OnceLock::<u8>::new();
    /// assert_eq!(place.wait_timeout(Duration::from_millis(1)), None);
    /// ```
    ///
    /// # Cancellation
    /// As for [`wait`](Self::wait).
    ///
    /// # Blocking
    /// As for [`wait`](Self::wait).
    pub fn wait_timeout(&self, timeout: Duration) -> Option<&T> {
        self.once.wait_until(true, time::deadline(timeout)).ok().map(|()| self.made())
    }

    /// [`wait`](Self::wait) for async code.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let place = lamprey::sync::OnceLock::from(5);
    /// assert_eq!(lamprey::wait(place.wait_async()), &5);
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn wait_async(&self) -> &T {
        self.once.wait_for_success_async().await;
        self.made()
    }

    /// [`wait`](Self::wait) as an event.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// let place = lamprey::sync::OnceLock::<u8>::new();
    /// let limited = choose((place.wait_evt().wrap(Some), timeout(Duration::from_millis(1)).wrap(|()| None)));
    /// assert_eq!(limited.sync(), None);
    /// ```
    #[cfg(not(loom))]
    pub fn wait_evt(&self) -> FutureEvt<impl Future<Output = &T> + use<'_, T>> {
        future_evt(self.wait_async())
    }

    /// The value; the place is empty after that.
    ///
    /// # Examples
    /// ```
    /// let mut place = lamprey::sync::OnceLock::from(1);
    /// assert_eq!((place.take(), place.take()), (Some(1), None));
    /// ```
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, if there is one.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(lamprey::sync::OnceLock::from(1).into_inner(), Some(1));
    /// ```
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Makes the value, if it is not there.
    #[cold]
    #[track_caller]
    fn initialise<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Result<(), E>, Interrupted> {
        let Some(running) = self.once.begin(true)? else { return Ok(Ok(())) };
        Ok(make().map(|value| {
            // SAFETY: ours to write while `running` is there (module's invariant).
            unsafe { self.value.get().write(Some(value)) };
            running.done();
        }))
    }

    /// The value, of which the caller knows that it is there.
    fn made(&self) -> &T {
        self.get().unwrap_or_else(|| crate::bug::bug!("a value that was made is not there"))
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    /// One that is full.
    fn from(value: T) -> Self {
        let place = Self::new();
        place.once.call_once(|| {
            // SAFETY: nobody else knows it.
            unsafe { place.value.get().write(Some(value)) };
        });
        place
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    /// A place of its own, with a clone of the value, if that is there.
    fn clone(&self) -> Self {
        self.get().map_or_else(Self::new, |value| Self::from(value.clone()))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceLock").field(&self.get()).finish()
    }
}
