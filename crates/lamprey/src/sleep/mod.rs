//! Sleeping, and time limits for what a thread or a future does.

mod future;
#[cfg(not(loom))]
mod with_timeout_async;

pub use future::Sleep;
#[cfg(not(loom))]
pub use {
    future::{sleep_async, sleep_until_async},
    with_timeout_async::{with_deadline_async, with_timeout_async},
};

#[cfg(not(loom))]
use crate::sched::Wait;
#[cfg(not(loom))]
use crate::sched::wait::{Waited, wait};
#[cfg(not(loom))]
use crate::sched::worker::Worker;
#[cfg(not(loom))]
use crate::thread::yield_now;
#[cfg(not(loom))]
use crate::time;
#[cfg(not(loom))]
use crate::world;
#[cfg(not(loom))]
use std::time::{Duration, Instant};

/// Sleeps for at least `duration`; of zero, it is [`yield_now`].
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// # lamprey::run(|| {
/// let start = Instant::now();
/// lamprey::sleep(Duration::from_millis(5));
/// assert!(start.elapsed() >= Duration::from_millis(5));
/// # });
/// ```
///
/// # Cancellation
/// A cancelled host unwinds from here at once; its timer is removed.
///
/// # Blocking
/// A host switches away; an OS thread, or a host that is unwinding, sleeps in the kernel. On an idle machine
/// the sleep ends within about 0.1 ms after the deadline; later if the worker's hosts compute long between
/// their scheduling points.
#[cfg(not(loom))]
pub fn sleep(duration: Duration) {
    // An idle worker would sleep for the kernel's shortest time, some 50 us. The clock of a simulation waits for a timer.
    if duration.is_zero() && !world::is_simulated() {
        return yield_now();
    }
    // An OS thread that waits without a limit counts as one that waits for other threads.
    let is_os = || Worker::current().is_none() && !world::is_simulated();
    let until = time::deadline(duration).or_else(|| is_os().then(time::far_away));
    // In no wait queue: only the deadline or a cancellation ends it.
    match wait(Wait::Sleep, until, |_| true, |_| true) {
        Waited::Refused if world::is_simulated() => _ = world::with(|world| world.advance(duration)),
        Waited::Refused => std::thread::sleep(duration),
        waited => waited.unwind_if_cancelled(),
    }
}

/// Sleeps until `deadline` at least; if that has passed, it is [`yield_now`].
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// # lamprey::run(|| {
/// let soon = Instant::now() + Duration::from_millis(5);
/// lamprey::sleep_until(soon);
/// assert!(Instant::now() >= soon);
/// # });
/// ```
///
/// # Cancellation
/// As [`sleep`].
///
/// # Blocking
/// As [`sleep`].
#[cfg(not(loom))]
pub fn sleep_until(deadline: Instant) {
    sleep(deadline.saturating_duration_since(world::now()));
}
