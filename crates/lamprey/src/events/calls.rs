//! Calls on a pool, as events.

use super::{FutureEvt, future_evt};
use crate::driver::{block_async, compute_async};
use crate::thread::Closure;
use std::future::Future;

/// [`block`](crate::block) as an event, to choose between its end and others.
///
/// The call is begun when the choice begins to wait. If another event is chosen, it is taken back if no thread of the pool has
/// begun it; otherwise it runs to its end, and its result is dropped.
///
/// # Examples
/// ```
/// use lamprey::event::{Event, choose, timeout};
/// use std::time::Duration;
///
/// let read = lamprey::run(|| {
///     let read = lamprey::block_evt(|| std::fs::read("Cargo.toml")).wrap(Result::ok);
///     choose((read, timeout(Duration::from_secs(60)).wrap(|()| None))).sync()
/// });
/// assert!(read.is_some());
/// ```
///
/// # Panics
/// The closure's panic reaches the thread that synchronises.
pub fn block_evt<F, T>(f: F) -> FutureEvt<impl Future<Output = T> + Send>
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    future_evt(block_async(f))
}

/// [`compute`](crate::compute) as an event, to choose between its end and others. Otherwise as [`block_evt`].
///
/// # Panics
/// The closure's panic reaches the thread that synchronises.
pub fn compute_evt<F, T>(f: F) -> FutureEvt<impl Future<Output = T> + Send>
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    future_evt(compute_async(f))
}
