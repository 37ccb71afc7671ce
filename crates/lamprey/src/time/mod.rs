//! Time: sleeping, and blocking with a deadline.
//!
//! Each worker has a [`wheel`] of the deadlines of its own blocked hosts, worked by the source `timers`. As a started
//! host stays on its worker, arming and disarming touch nothing that another kernel thread touches. Futures, which may
//! move, have a second wheel, under a lock (`alarms`).

pub(crate) mod alarms;
mod ticks;
mod timed_out;
#[cfg(not(loom))]
pub(crate) mod timers;
mod wheel;
#[cfg(not(loom))]
mod with_deadline;
#[cfg(not(loom))]
mod with_timeout;

#[cfg(not(loom))]
pub use {
    alarms::{Sleep, sleep_async},
    with_deadline::{with_deadline, with_timeout},
    with_timeout::with_timeout_async,
};

pub use timed_out::TimedOut;

#[cfg(not(loom))]
use crate::sched::wait::{Waited, wait};
#[cfg(not(loom))]
use crate::sched::worker::Worker;
use crate::sched::{self, Wait, Woke};
use std::time::{Duration, Instant};

/// When `timeout` from now is; `None` if that is beyond what the clock can say, that is, never.
pub(crate) fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// A block that ends at the deadline, with [`Woke::TimedOut`]: for [`wait`](sched::wait) alone.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn block_until(reason: Wait, deadline: Option<Instant>) -> Woke {
    let Some(deadline) = deadline else { return sched::block::block(reason) };
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return timers::block_until(worker, reason, deadline);
    }
    // A deadline of a host of the checker has passed when its root says so.
    #[cfg(loom)]
    if sched::block::on_host() {
        return sched::block::block(reason);
    }
    sched::os::block(Some(deadline))
}

/// Sleeps for at least `duration`.
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
/// A cancelled host unwinds from here at once, and leaves nothing behind.
///
/// # Blocking
/// A host switches away; an OS thread, or a host that is unwinding, sleeps in the kernel. The wake-up comes within
/// about 0.1 ms of its time on an idle machine; later if the worker's hosts compute long between their scheduling
/// points.
#[cfg(not(loom))]
pub fn sleep(duration: Duration) {
    // Queued nowhere: nobody wakes it.
    match wait(Wait::Sleep, deadline(duration), |_| true, |_| true) {
        Waited::Refused => std::thread::sleep(duration),
        waited => waited.unwind_if_cancelled(),
    }
}
