//! `OnceLock`: a value that is written once.
//!
//! Invariant: only the holder of the `Running` of `once` writes the value, and nothing writes it once `once`
//! is completed.

use super::{BeginFuture, EndedOp, Interrupted, Once, Phase, Running, unwinding};
use crate::channel::gate::{GateFuture, opaque};
#[cfg(not(loom))]
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// A value that the first thread that needs it creates, once, while other threads wait.
///
/// If creating it fails (an error, a panic, a cancelled host, a dropped future), it is not poisoned: the next
/// thread tries.
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
#[doc(alias = "OnceCell")]
pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value may be created on one thread and dropped on another (`Send`), and is read by all
// (`Sync`); the write happens before all reads (module's invariant).
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    crate::sync_shim::const_fn! {
        /// An empty `OnceLock`.
        ///
        /// # Examples
        /// See [`OnceLock`].
        pub const fn new() -> Self {
            Self { once: Once::new(), value: UnsafeCell::new(None) }
        }
    }

    /// The value, if there is one.
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
        coop::looked(self.value(), Option::is_none)
    }

    /// True if there is a value. It never gives way.
    pub(crate) fn is_full(&self) -> bool {
        self.value().is_some()
    }

    fn value(&self) -> Option<&T> {
        if !self.once.is_over() {
            return None;
        }
        // SAFETY: completed, so no thread writes (module's invariant).
        unsafe { &*self.value.get() }.as_ref()
    }

    /// The value, mutably, if there is one.
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

    /// Writes the value. If another thread is creating one, waits until that has ended.
    ///
    /// # Examples
    /// ```
    /// let place = lamprey::sync::OnceLock::new();
    /// assert_eq!((place.set(1), place.set(2), place.get()), (Ok(()), Err(2), Some(&1)));
    /// ```
    ///
    /// # Errors
    /// `value` itself if there is a value already, or if the caller is a host that is unwinding and would
    /// have to wait.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here; the value is dropped and not written.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        // An error means that the caller unwinds; `value` is then still there and returned.
        let _ = self.initialise(|| Ok::<T, Infallible>(value.take().unwrap_or_else(|| unreachable!())));
        value.map_or(Ok(()), Err)
    }

    /// The value; `make` creates it if there is none.
    ///
    /// # Examples
    /// See [`OnceLock`].
    ///
    /// # Panics
    /// If `make` panics; the next thread then tries. If another thread is creating the value and the caller
    /// is a host that is unwinding, which must not wait. In debug builds, if `make` calls this recursively,
    /// which otherwise deadlocks.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here, without effect. If a host is cancelled in
    /// `make`, there is no value, and the next thread tries.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[inline]
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let Ok(value) = self.get_or_try_init(|| Ok::<T, Infallible>(make()));
        value
    }

    /// The value; if there is none, `make` creates it or fails.
    ///
    /// # Examples
    /// ```
    /// let port = lamprey::sync::OnceLock::<u16>::new();
    /// assert!(port.get_or_try_init(|| "many".parse()).is_err());
    /// assert_eq!(port.get_or_try_init(|| "80".parse()), Ok(&80));
    /// ```
    ///
    /// # Errors
    /// The error of `make`; the next thread then tries.
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

    /// [`get_or_init`](Self::get_or_init) for async code: awaits the future that `make` returns, if there is
    /// no value.
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
    /// If the future panics; the next caller then tries.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, no value is created, and the next caller tries.
    ///
    /// # Blocking
    /// Never; the future is pending until then.
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
    /// The error of the future; the next caller then tries.
    ///
    /// # Panics
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Cancellation
    /// As for [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Blocking
    /// Never; the future is pending until then.
    pub async fn get_or_try_init_async<E, F>(&self, make: impl FnOnce() -> F) -> Result<&T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some(running) = self.once.begin_async(true).await {
            self.write(make().await?, running);
        }
        Ok(self.made())
    }

    /// Waits until the value exists, and returns it.
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
    /// If the caller is a host that is unwinding and would have to wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here and has changed nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&self) -> &T {
        match self.wait_until(Wait::Once, None) {
            Ok(value) => value,
            Err(Interrupted::Unwinding) => unwinding(),
            Err(Interrupted::TimedOut) => crate::bug::bug!("a wait for a value without a deadline timed out"),
        }
    }

    /// [`wait`](Self::wait) for `timeout` at most; `None` after that, and on a host that is unwinding.
    ///
    /// # Examples
    /// ```
    /// # use std::time::{Duration, Instant};
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
        self.wait_until(Wait::Once, time::deadline(timeout)).ok()
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
    /// Never; the future is pending until then.
    pub fn wait_async(&self) -> OnceLockWaitFuture<'_, T> {
        self.wait_async_for(Wait::Once)
    }

    /// [`wait`](Self::wait) as an event.
    ///
    /// # Examples
    /// ```
    /// # use std::time::{Duration, Instant};
    /// use lamprey::event::{Event, choose, timeout};
    /// let place = lamprey::sync::OnceLock::<u8>::new();
    /// let limited = choose((place.wait_evt().wrap(Some), timeout(Duration::from_millis(1)).wrap(|()| None)));
    /// assert_eq!(limited.sync(), None);
    /// ```
    #[cfg(not(loom))]
    pub fn wait_evt(&self) -> FutureEvt<OnceLockWaitFuture<'_, T>> {
        future_evt(self.wait_async())
    }

    /// Takes the value out, leaving this empty.
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

    /// Writes the value without blocking. For a lock that is written by this method only.
    ///
    /// # Errors
    /// `value` itself if there is one already.
    #[cfg(not(loom))]
    pub(in crate::sync) fn put(&self, value: T) -> Result<(), T> {
        match self.once.begin_at_once() {
            Some(running) => {
                self.write(value, running);
                Ok(())
            }
            None => Err(value),
        }
    }

    /// [`wait`](Self::wait) with a deadline and a wait reason.
    pub(in crate::sync) fn wait_until(
        &self,
        reason: Wait,
        deadline: Option<Instant>,
    ) -> Result<&T, Interrupted> {
        self.once.wait_for_success(reason, deadline).map(|()| self.made())
    }

    /// [`wait_async`](Self::wait_async) with a wait reason.
    pub(in crate::sync) fn wait_async_for(&self, reason: Wait) -> OnceLockWaitFuture<'_, T> {
        OnceLockWaitFuture { lock: self, made: self.once.wait_for_success_async(reason) }
    }

    /// Creates the value, if there is none.
    #[cold]
    #[track_caller]
    fn initialise<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Result<(), E>, Interrupted> {
        let Some(running) = self.once.begin(true)? else { return Ok(Ok(())) };
        Ok(make().map(|value| self.write(value, running)))
    }

    fn write(&self, value: T, running: Running<'_>) {
        // SAFETY: only the holder of `running` writes the value (module's invariant).
        unsafe { self.value.get().write(Some(value)) };
        running.done();
    }

    /// Acquires the right to create the value; `None` if the value exists.
    pub(super) fn begin_async(&self) -> BeginFuture<'_> {
        self.once.begin_async(true)
    }

    /// The value; `make` creates it if the caller has the right to.
    pub(super) fn end(&self, running: Option<Running<'_>>, make: impl FnOnce() -> T) -> &T {
        if let Some(running) = running {
            self.write(make(), running);
        }
        self.made()
    }

    /// The value; the caller knows that it exists.
    fn made(&self) -> &T {
        self.get().unwrap_or_else(|| crate::bug::bug!("a value that was made is not there"))
    }
}

/// The future of [`OnceLock::wait_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct OnceLockWaitFuture<'a, T> {
    lock: &'a OnceLock<T>,
    made: GateFuture<'a, Phase, EndedOp>,
}

impl<'a, T> Future for OnceLockWaitFuture<'a, T> {
    type Output = &'a T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a T> {
        let lock = self.lock;
        // SAFETY: `made` is pinned with the whole: nothing moves it out, and there is no `Drop`.
        ready!(unsafe { self.map_unchecked_mut(|this| &mut this.made) }.poll(cx));
        Poll::Ready(lock.made())
    }
}

opaque!(OnceLockWaitFuture<'a, T>);

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    /// A `OnceLock` with `value` in it.
    fn from(value: T) -> Self {
        let place = Self::new();
        place.once.call_once(|| {
            // SAFETY: no other thread has a reference to it.
            unsafe { place.value.get().write(Some(value)) };
        });
        place
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    /// A new `OnceLock`, with a clone of the value if there is one.
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
