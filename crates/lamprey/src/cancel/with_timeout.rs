//! `with_timeout` and `with_deadline`: a time limit for a closure.

use super::level;
use crate::sched::cancel::{Frame, is_moot};
use crate::sched::coop;
use crate::sched::timers::with_level;
use crate::sched::worker::Worker;
use crate::thread::Closure;
use crate::time::{self, TimedOut};
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

/// Runs `inside`, and cancels it when `duration` has passed: the blocking call that it is in, or makes next,
/// unwinds from there to here, and its destructors run on the way.
///
/// The awaitable form is [`with_timeout_async`](crate::with_timeout_async). For a single call its own
/// `*_timeout` form is cheaper, and does not unwind.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::{TimedOut, with_timeout};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel::<u32>();
///     assert_eq!(with_timeout(Duration::from_secs(60), || 7), Ok(7));
///     assert_eq!(with_timeout(Duration::from_millis(2), || rx.recv()), Err(TimedOut));
///     drop(tx);
/// });
/// ```
///
/// # Errors
/// [`TimedOut`] if the deadline has cancelled `inside`. If `inside` returns, its value is returned, even
/// after the deadline.
///
/// # Panics
/// With `inside`'s own panic.
///
/// # Cancellation
/// A cancellation from outside unwinds through this call. Whether the interrupted call has taken effect is
/// stated in that call's own documentation.
///
/// # Blocking
/// As `inside` does. For hosts, stackful parasites and OS threads; in a destructor during an unwind it only
/// runs `inside`, whose blocking calls fail there. On an OS thread socket calls are not interrupted, because
/// they wait in the kernel. Stackless parasites use the awaitable form. Code that computes without blocking
/// is not interrupted: it can ask [`is_cancelled`](crate::is_cancelled).
#[doc(alias = "timeout")]
#[doc(alias = "WithTimeout")]
pub fn with_timeout<R>(duration: Duration, inside: impl Closure<R>) -> Result<R, TimedOut> {
    match time::deadline(duration) {
        Some(deadline) => with_deadline(deadline, inside),
        None => {
            coop::turn();
            Ok(inside())
        }
    }
}

/// Like [`with_timeout`], with the deadline as an instant. The awaitable form is
/// [`with_deadline_async`](crate::with_deadline_async).
///
/// # Errors
/// [`TimedOut`] if the deadline has cancelled `inside`.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// lamprey::run(|| {
///     let soon = Instant::now() + Duration::from_millis(2);
///     // Several calls under one deadline:
///     let done = lamprey::with_deadline(soon, || {
///         lamprey::sleep(Duration::from_millis(1));
///         lamprey::sleep(Duration::from_secs(60));
///     });
///     assert!(done.is_err());
/// });
/// ```
#[doc(alias = "timeout_at")]
#[doc(alias = "WithDeadline")]
pub fn with_deadline<R>(deadline: Instant, inside: impl Closure<R>) -> Result<R, TimedOut> {
    if is_moot() {
        return Ok(inside());
    }
    coop::turn();
    let (frame, left);
    match Worker::current() {
        Some(worker) => {
            frame = Frame::level(None);
            left = with_level(worker, &frame, deadline, || level::run(&frame, inside));
        }
        None => {
            frame = Frame::level(Some(deadline));
            left = level::run(&frame, inside);
        }
    }
    let settled = level::settle(&frame, left).unwrap_or_else(|payload| resume_unwind(payload));
    settled.map_err(|level::LevelCancelled| TimedOut)
}
