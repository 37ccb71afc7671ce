//! `LazyLock`: a value that its own closure creates on first use.
//!
//! Invariant: only the thread that initialises `value` touches the closure, one thread at a time. If the
//! closure has been taken and there is no value, the closure has failed, permanently.

use super::{BeginFuture, OnceLock};
use crate::channel::gate::opaque;
use crate::events::{FutureEvt, future_evt};
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A value that a closure creates on first use.
///
/// # Examples
/// ```
/// use lamprey::sync::LazyLock;
/// static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| "plain blocking code".split(' ').collect());
///
/// lamprey::run(|| {
///     let host = lamprey::spawn(|| WORDS.len());
///     assert_eq!((WORDS[0], host.join().unwrap()), ("plain", 3));
/// });
/// ```
///
/// # Panics
/// Every use panics if the closure panics or has panicked, or if its host was cancelled in it: the value is
/// then poisoned permanently. A use also panics if another thread runs the closure and the caller is a host
/// that is unwinding, which must not wait.
///
/// # Cancellation
/// A host that is cancelled while it waits for another thread's closure unwinds from there, without effect.
///
/// # Blocking
/// A use waits for the closure: a host or stackful parasite switches away; an OS thread parks.
#[doc(alias = "Lazy")]
#[doc(alias = "OnceValue")]
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: Cell<Option<F>>,
}

// SAFETY: only one thread takes the closure, once (module's invariant), so `F: Send` is enough. The value is
// shared as in `OnceLock`, which needs `T: Send + Sync`.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `make` creates on first use.
    ///
    /// # Examples
    /// See [`LazyLock`].
    pub const fn new(make: F) -> Self {
        Self { value: OnceLock::new(), make: Cell::new(Some(make)) }
    }

    /// The value, which is created now if necessary, as by a dereference.
    ///
    /// # Examples
    /// ```
    /// let lazy = lamprey::sync::LazyLock::new(|| 6 * 7);
    /// assert_eq!(lamprey::sync::LazyLock::force(&lazy), &42);
    /// ```
    ///
    /// # Panics
    /// As for [`LazyLock`].
    ///
    /// # Cancellation
    /// As for [`LazyLock`].
    ///
    /// # Blocking
    /// As for [`LazyLock`].
    #[inline]
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.value.get_or_init(|| this.made())
    }

    /// [`force`](Self::force) for async code. The closure runs within a poll.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let lazy = lamprey::sync::LazyLock::new(|| 6 * 7);
    /// assert_eq!(lamprey::wait(lamprey::sync::LazyLock::force_async(&lazy)), &42);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the closure panics, or has panicked before.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Only in the closure; the future is pending while another thread runs it.
    pub fn force_async(this: &Self) -> LazyLockForceFuture<'_, T, F> {
        LazyLockForceFuture { lazy: this, begun: this.value.begin_async() }
    }

    /// [`force`](Self::force) as an event.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::Event;
    /// let lazy = lamprey::sync::LazyLock::new(|| 6 * 7);
    /// assert_eq!(lamprey::sync::LazyLock::force_evt(&lazy).sync(), &42);
    /// ```
    pub fn force_evt(this: &Self) -> FutureEvt<LazyLockForceFuture<'_, T, F>> {
        future_evt(Self::force_async(this))
    }

    fn made(&self) -> T {
        let Some(make) = self.make.take() else {
            panic!(
                "the closure of a LazyLock has panicked, or was cancelled, before; its value cannot be had"
            )
        };
        make()
    }
}

/// The future of [`LazyLock::force_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct LazyLockForceFuture<'a, T, F> {
    lazy: &'a LazyLock<T, F>,
    begun: BeginFuture<'a>,
}

impl<'a, T, F: FnOnce() -> T> Future for LazyLockForceFuture<'a, T, F> {
    type Output = &'a T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a T> {
        let lazy = self.lazy;
        // SAFETY: `begun` is pinned with the whole: nothing moves it out, and there is no `Drop`.
        let running = ready!(unsafe { self.map_unchecked_mut(|this| &mut this.begun) }.poll(cx));
        Poll::Ready(lazy.value.end(running, || lazy.made()))
    }
}

opaque!(LazyLockForceFuture<'a, T, F>);

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    /// Creates the value with `T::default()` on first use.
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyLock").field(&self.value.get()).finish()
    }
}
