//! A limit of time for any future.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::alarms::{Sleep, sleep_async};

/// The time limit of a [`with_timeout_async`] has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time limit has passed")
    }
}

impl std::error::Error for TimedOut {}

impl From<TimedOut> for io::Error {
    /// An error of the kind [`TimedOut`](io::ErrorKind::TimedOut).
    fn from(timed_out: TimedOut) -> Self {
        io::Error::new(io::ErrorKind::TimedOut, timed_out)
    }
}

/// What `future` gives, unless `duration` passes first; the time counts from this call.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::{TimedOut, sleep_async, with_timeout_async};
///
/// lamprey::run(|| {
///     let seven = with_timeout_async(Duration::from_secs(60), async { 7 });
///     assert_eq!(lamprey::wait(seven), Ok(7));
///     let long = sleep_async(Duration::from_secs(60));
///     assert_eq!(lamprey::wait(with_timeout_async(Duration::from_millis(2), long)), Err(TimedOut));
/// });
/// ```
///
/// # Errors
/// [`TimedOut`]; `future` has been polled once more after the time had passed, so a result that has come is not lost.
///
/// # Cancellation
/// Dropping this drops `future`; so does, after a timeout, the end of the `await`. What that means is up to `future`.
pub fn with_timeout_async<F: Future>(
    duration: Duration,
    future: F,
) -> impl Future<Output = Result<F::Output, TimedOut>> {
    WithTimeout { future, limit: sleep_async(duration) }
}

struct WithTimeout<F> {
    future: F,
    limit: Sleep,
}

impl<F: Future> Future for WithTimeout<F> {
    type Output = Result<F::Output, TimedOut>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both fields are only used pinned, here, and dropped in place; the type has no `Drop` and is never
        // `Unpin`, because `Sleep` is not.
        let (future, limit) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.limit))
        };
        // The future first: at the last poll, after the time has passed, a result still counts.
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        limit.poll(context).map(|()| Err(TimedOut))
    }
}
