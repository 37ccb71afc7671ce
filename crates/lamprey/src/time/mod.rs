//! Time: deadlines, and the wheels that keep them.
//!
//! The room uses nothing of the scheduler. Each worker has a [`wheel`] for the deadlines of its own blocked
//! hosts. As a started host stays on its worker, arming and disarming touch no data of another kernel thread.
//! Futures, which may move between threads, have a second wheel, under a lock ([`alarms`]). The source
//! `sched::timers` drives both.

pub(crate) mod alarms;
#[cfg(all(test, not(loom)))]
pub(crate) mod any;
pub(crate) mod before;
pub(crate) mod clock;
#[cfg(not(loom))]
pub(crate) mod pauses;
pub(crate) mod ticks;
mod timed_out;
pub(crate) mod wheel;

pub use timed_out::TimedOut;

use crate::world;
use std::time::{Duration, Instant};

/// An instant that nobody lives to see, for events that want one.
pub(crate) fn far_away() -> Instant {
    let now = world::now();
    now.checked_add(Duration::from_secs(1 << 40)).unwrap_or(now)
}

/// The instant `timeout` from now; `None` if the clock cannot represent it, which means never.
pub(crate) fn deadline(timeout: Duration) -> Option<Instant> {
    world::now().checked_add(timeout)
}
