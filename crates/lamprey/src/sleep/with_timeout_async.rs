//! `with_timeout_async`: a time limit for any future.

use std::future::Future;
use std::time::{Duration, Instant};

use super::sleep_async;
use crate::sched::coop_async::in_turn;
use crate::time::TimedOut;
use crate::time::before::before;
use crate::world;

/// The output of `future`, unless `duration` passes first; the time counts from this call.
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
/// [`TimedOut`]. `future` is polled once more after the time has passed, so a result that is ready by then is
/// not lost.
///
/// # Cancellation
/// Dropping this drops `future`; so does the end of the `await` after a timeout. What dropping means is up to
/// `future`.
#[doc(alias = "timeout")]
#[doc(alias = "WithTimeout")]
pub fn with_timeout_async<F: Future>(
    duration: Duration,
    future: F,
) -> impl Future<Output = Result<F::Output, TimedOut>> {
    in_turn(before(future, sleep_async(duration), TimedOut))
}

/// As [`with_timeout_async`], until an instant.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// use lamprey::{TimedOut, sleep_async, with_deadline_async};
///
/// lamprey::run(|| {
///     let soon = Instant::now() + Duration::from_millis(2);
///     let long = sleep_async(Duration::from_secs(60));
///     assert_eq!(lamprey::wait(with_deadline_async(soon, long)), Err(TimedOut));
/// });
/// ```
///
/// # Errors
/// As [`with_timeout_async`].
///
/// # Cancellation
/// As [`with_timeout_async`].
pub fn with_deadline_async<F: Future>(
    deadline: Instant,
    future: F,
) -> impl Future<Output = Result<F::Output, TimedOut>> {
    with_timeout_async(deadline.saturating_duration_since(world::now()), future)
}
