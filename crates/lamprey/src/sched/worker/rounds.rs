//! How often a busy worker runs its root: the budget of scheduling points ([`root`](crate::sched::root)).

use crate::time::clock;
use std::cell::Cell;
use std::time::Duration;

/// How often sources are polled while the worker is busy.
pub(in crate::sched) const POLL: Duration = Duration::from_micros(50);

/// The measured length of a budget, which is set so that the root runs about every [`POLL`].
#[derive(Debug)]
pub(in crate::sched) struct Rounds {
    /// Scheduling points in one round.
    pub(in crate::sched) window: Cell<u32>,
    /// Scheduling points that this round was given.
    pub(in crate::sched) granted: Cell<u32>,
    /// When the last round began, when the sources were last polled, and the interval between polls; in
    /// ticks of [`clock`].
    pub(in crate::sched) measured: Cell<u64>,
    pub(in crate::sched) polled: Cell<u64>,
    pub(in crate::sched) poll_every: u64,
    /// A clock that stands still within a round, for how long threads wait: units of 2^`shift` ticks. It wraps around.
    pub(in crate::sched) stamp: Cell<u32>,
    shift: u32,
}

/// The coarse clock's unit is at most this long.
const COARSE: Duration = Duration::from_millis(1);

impl Rounds {
    pub(in crate::sched) fn new(now: u64) -> Self {
        let poll_every = clock::in_ticks(POLL);
        let shift = clock::in_ticks(COARSE).max(1).ilog2();
        let stamp = Cell::new((now >> shift) as u32);
        Self {
            window: Cell::new(8),
            granted: Cell::new(0),
            measured: Cell::new(now),
            polled: Cell::new(now),
            poll_every,
            stamp,
            shift,
        }
    }

    /// A round begins; returns how long the last one was, in ticks.
    pub(in crate::sched) fn begin(&self, now: u64) -> u64 {
        self.stamp.set((now >> self.shift) as u32);
        now.wrapping_sub(self.measured.replace(now))
    }

    /// How long ago a round began that was [`measured`](Self::measured) from there.
    pub(in crate::sched) fn length_since(measured: u64) -> Duration {
        COARSE.mul_f64(clock::ticks().wrapping_sub(measured) as f64 / clock::in_ticks(COARSE).max(1) as f64)
    }

    /// How long ago the coarse clock showed `stamp`: up to a round, and the clock's unit, too much.
    pub(in crate::sched) fn since(&self, stamp: u32) -> Duration {
        let units = ((clock::ticks() >> self.shift) as u32).wrapping_sub(stamp);
        COARSE
            .mul_f64(f64::from(units) * (1_u64 << self.shift) as f64 / clock::in_ticks(COARSE).max(1) as f64)
    }
}
