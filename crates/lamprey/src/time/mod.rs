//! Time: deadlines, and the wheels that keep them.
//!
//! It needs nothing of the scheduler. Each worker has a [`wheel`] of the deadlines of its own blocked hosts.
//! As a started host stays on its worker, arming and disarming touch nothing that another kernel thread
//! touches. Futures, which may move, have a second wheel, under a lock ([`alarms`]). The source
//! `sched::timers` works both.

pub(crate) mod alarms;
pub(crate) mod before;
pub(crate) mod clock;
pub(crate) mod ticks;
mod timed_out;
pub(crate) mod wheel;

pub use timed_out::TimedOut;

use std::time::{Duration, Instant};

/// When `timeout` from now is; `None` if that is beyond what the clock can say, that is, never.
pub(crate) fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}
