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
        self.passed_with_nanos().0
    }

    /// The tick that began last, and the nanoseconds since tick 0: more than 64 bits after 584 years of a simulation.
    pub(crate) fn passed_with_nanos(&self) -> (u64, u128) {
        let nanos = world::now().saturating_duration_since(self.start).as_nanos();
        ((nanos >> TICK) as u64, nanos)
    }

    /// The nanoseconds from tick 0 to the start of `tick`.
    pub(crate) fn nanos_of(tick: u64) -> u128 {
        u128::from(tick) << TICK
    }

    /// The start of `tick`; `None` if the clock cannot represent it.
    pub(crate) fn begin(&self, tick: u64) -> Option<Instant> {
        let nanos = Self::nanos_of(tick);
        // The last tick begins in 38 million years: in seconds it fits.
        let (seconds, rest) = ((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32);
        self.start.checked_add(Duration::new(seconds, rest))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::time::any::{a_time, settings};
    use proptest::prelude::*;

    #[test]
    fn the_ends() {
        let ticks = Ticks::from_now();
        assert_eq!((ticks.begin(0), ticks.after(ticks.start)), (Some(ticks.start), 0));
        let past = ticks.start.checked_sub(Duration::from_secs(1));
        assert_eq!(past.map(|past| ticks.after(past)), past.map(|_| 0));
        let last = ticks.begin(u64::MAX).unwrap();
        assert_eq!(ticks.after(last), u64::MAX);
        assert_eq!(ticks.after(last + Duration::from_nanos(1)), u64::MAX);
    }

    proptest! {
        #![proptest_config(settings())]

        /// As whole numbers of any size have it.
        #[test]
        fn deadlines_are_rounded_up(time in a_time()) {
            let ticks = Ticks::from_now();
            if let Some(at) = ticks.start.checked_add(time) {
                let tick = time.as_nanos().div_ceil(1 << TICK).min(u64::MAX.into());
                prop_assert_eq!(u128::from(ticks.after(at)), tick);
            }
        }

        #[test]
        fn ticks_begin_at_their_multiples(tick: u64, smaller in 0..64) {
            let (ticks, tick) = (Ticks::from_now(), tick >> smaller);
            let begin = ticks.begin(tick).unwrap();
            prop_assert_eq!((begin - ticks.start).as_nanos(), u128::from(tick) << TICK);
            prop_assert_eq!(ticks.after(begin), tick);
        }
    }
}
