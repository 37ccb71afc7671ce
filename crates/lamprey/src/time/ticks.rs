//! Ticks: the unit of time of a worker's timer wheels.
//!
//! A tick is 2^16 ns (65.5 us). Deadlines are rounded up to whole ticks and the time that has passed is
//! rounded down, so that nothing ever fires early.

use crate::world;
use std::time::{Duration, Instant};

/// Nanoseconds in a tick, as a power of two.
const TICK: u32 = 16;

/// The number of ticks since `start`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticks {
    start: Instant,
}

impl Ticks {
    /// Tick 0 begins now.
    pub(crate) fn from_now() -> Self {
        Self { start: world::now() }
    }

    /// The first tick at or after `at`.
    pub(crate) fn after(&self, at: Instant) -> u64 {
        let nanos = at.saturating_duration_since(self.start).as_nanos();
        u64::try_from(nanos.div_ceil(1 << TICK)).unwrap_or(u64::MAX)
    }

    /// The tick that began last.
    pub(crate) fn passed(&self) -> u64 {
        (world::now().saturating_duration_since(self.start).as_nanos() >> TICK) as u64
    }

    /// The start of `tick`; `None` if the clock cannot represent it.
    pub(crate) fn begin(&self, tick: u64) -> Option<Instant> {
        let nanos = u128::from(tick) << TICK;
        // The last tick begins in 38 million years: in seconds it fits.
        let (seconds, rest) = ((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32);
        self.start.checked_add(Duration::new(seconds, rest))
    }
}
