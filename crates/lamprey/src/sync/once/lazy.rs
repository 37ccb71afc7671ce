//! A value that is made by its own closure when it is needed.
//!
//! Invariant: the closure is touched by whoever initialises `value`, one at a time. If it has been taken and
//! the value is not there, it has failed, for good.

use super::OnceLock;
use crate::events::{FutureEvt, future_evt};
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A value that is made when it is used for the first time, by the closure that it was given.
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
/// A use panics if the closure does, now or before, or its host was cancelled in it: it is poisoned then, for
/// good. Also if another thread is at it and the caller is a host that is unwinding, which must not wait.
///
/// # Cancellation
/// A host that is cancelled while it waits for another's making unwinds from there and has changed nothing.
///
/// # Blocking
/// A use waits for the closure: a host or stackful parasite switches away; an OS thread parks.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: Cell<Option<F>>,
}

// SAFETY: of the closure, one thread takes it, once, as the module's invariant says: it is sent there. The
// value: as in `OnceLock`.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// One whose value `make` will make.
    ///
    /// # Examples
    /// See [`LazyLock`].
    pub const fn new(make: F) -> Self {
        Self { value: OnceLock::new(), make: Cell::new(Some(make)) }
    }

    /// The value, made now if it is not there: what a plain use of the lock does.
    ///
    /// # Examples
    /// ```
    /// let lazy = lamprey::sync::LazyLock::new(|| 6 * 7);
    /// assert_eq!(lamprey::sync::LazyLock::force(&lazy), &42);
    /// ```
    ///
    /// # Panics
    /// As [`LazyLock`] says.
    ///
    /// # Cancellation
    /// As [`LazyLock`] says.
    ///
    /// # Blocking
    /// As [`LazyLock`] says.
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
    /// If the closure does, or has.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Only in the closure; the future is pending while another thread is at it.
    pub fn force_async(this: &Self) -> impl Future<Output = &T> {
        this.value.get_or_init_async(|| async { this.made() })
    }

    /// [`force`](Self::force) as an event.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::Event;
    /// let lazy = lamprey::sync::LazyLock::new(|| 6 * 7);
    /// assert_eq!(lamprey::sync::LazyLock::force_evt(&lazy).sync(), &42);
    /// ```
    pub fn force_evt(this: &Self) -> FutureEvt<impl Future<Output = &T>> {
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

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    /// Makes the default value when it is used.
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyLock").field(&self.value.get()).finish()
    }
}
