//! Time: sleeping, and blocking with a deadline.
//!
//! Each worker has a [`wheel`] of the deadlines of its own blocked hosts, worked by the source `timers`. As a started
//! host stays on its worker, arming and disarming touch nothing that another kernel thread touches. Futures, which may
//! move, have a second wheel, under a lock (`alarms`).

#[cfg(not(loom))]
pub(crate) mod alarms;
#[cfg(not(loom))]
mod ticks;
#[cfg(not(loom))]
pub(crate) mod timers;
#[cfg(not(loom))]
mod wheel;
#[cfg(not(loom))]
mod with_deadline;
#[cfg(not(loom))]
mod with_timeout;

#[cfg(not(loom))]
pub use {
    alarms::{Sleep, sleep_async},
    with_deadline::{with_deadline, with_timeout},
    with_timeout::{TimedOut, with_timeout_async},
};

#[cfg(not(loom))]
use crate::sched::worker::Worker;
use crate::sched::{self, Wait, Woke};
use std::time::{Duration, Instant};

/// When `timeout` from now is; `None` if that is beyond what the clock can say, that is, never.
pub(crate) fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// [`sched::block`] with a deadline, after which it ends with [`Woke::TimedOut`].
#[inline(always)]
pub(crate) fn block_until(reason: Wait, deadline: Option<Instant>) -> Woke {
    let Some(deadline) = deadline else { return sched::block(reason) };
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return timers::block_until(worker, reason, deadline);
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
    let Some(worker) = Worker::current() else {
        // Nobody wakes it; a level may end it.
        return sched::unwind_if_cancelled(sched::os::block(deadline(duration)));
    };
    if sched::must_not_block() {
        return std::thread::sleep(duration);
    }
    let woke = match deadline(duration) {
        Some(deadline) => timers::block_until(worker, Wait::Sleep, deadline),
        None => worker.block(Wait::Sleep),
    };
    sched::unwind_if_cancelled(woke);
}
