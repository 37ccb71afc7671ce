//! Restart policies: whether a child that has ended is restarted, which others are restarted with it, and
//! when.

use crate::world;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::time::Duration;

/// When a child is restarted. A child that has been cancelled never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Restart {
    /// Whenever it has ended: for children that run as long as the supervisor. (Erlang/OTP: permanent)
    Always,
    /// When it has failed: it panicked, or returned an `Err`. (transient)
    OnFailure,
    /// Never. (temporary)
    Never,
}

/// Which children are stopped and restarted together with a child that is restarted.
///
/// They are stopped in reverse order, and started in the order in which they were added. A child that had
/// ended, or that runs only [once](Restart::Never), is not restarted because of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// None: the children are independent.
    OneForOne,
    /// All others: each child relies on all others.
    OneForAll,
    /// Those that were added after it: each child relies on those before it.
    RestForOne,
}

impl Strategy {
    /// The numbers of the children that are stopped with `child`.
    pub(super) fn group(self, child: usize) -> Range<usize> {
        match self {
            Self::OneForOne => child..child + 1,
            Self::OneForAll => 0..usize::MAX,
            Self::RestForOne => child..usize::MAX,
        }
    }
}

/// The delay before a supervisor restarts a child: a first delay, which is multiplied by a factor with each
/// failure in a row, up to a maximum. A run that lasts at least the [window](super::Supervisor::limit) resets
/// the delay.
///
/// # Examples
/// ```
/// use lamprey::scope::Backoff;
/// use std::time::Duration;
///
/// // 50, 150, 450 ms, 1 s, 1 s, ... each up to a tenth shorter
/// let backoff = Backoff::new(Duration::from_millis(50)).factor(3.0).max(Duration::from_secs(1)).jitter(0.1);
/// # let _ = lamprey::scope::Supervisor::new().backoff(backoff);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    first: Duration,
    factor: f64,
    max: Duration,
    jitter: f64,
}

impl Backoff {
    /// Starts with `first` and doubles, up to 10 seconds (or `first`, if that is longer), without jitter.
    /// [`Duration::ZERO`] means no delay.
    pub const fn new(first: Duration) -> Self {
        let max = Duration::from_secs(10);
        let max = if first.as_nanos() > max.as_nanos() { first } else { max };
        Self { first, factor: 2.0, max, jitter: 0.0 }
    }

    /// The factor from each delay to the next.
    ///
    /// # Panics
    /// If it is less than 1.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        assert!(factor >= 1.0, "the factor of a back-off is {factor}; it must be 1 or more");
        self.factor = factor;
        self
    }

    /// The longest delay.
    #[must_use]
    pub fn max(mut self, max: Duration) -> Self {
        self.max = max;
        self
    }

    /// The random part of each delay, from 0 to 1, so that children that failed together are not all
    /// restarted together.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        assert!(
            (0.0..=1.0).contains(&jitter),
            "the jitter of a back-off is {jitter}; it must be from 0 to 1"
        );
        self.jitter = jitter;
        self
    }

    /// The delay after a failure that follows `failures` failures in a row.
    pub(super) fn delay(&self, failures: u32) -> Duration {
        if self.first.is_zero() {
            return Duration::ZERO; // and not 0 times infinity
        }
        let seconds = self.first.as_secs_f64() * self.factor.powf(f64::from(failures));
        // An error means that a `Duration` cannot represent it.
        let delay = Duration::try_from_secs_f64(seconds).map_or(self.max, |delay| delay.min(self.max));
        if self.jitter == 0.0 {
            return delay;
        }
        let part = 1.0 - self.jitter * chance();
        Duration::try_from_secs_f64(delay.as_secs_f64() * part).map_or(delay, |part| part.min(delay))
    }
}

impl Default for Backoff {
    /// 100 ms, doubled up to 10 s.
    fn default() -> Self {
        Self::new(Duration::from_millis(100))
    }
}

/// A random number from 0 to 1: each of std's `RandomState`s has different keys.
fn chance() -> f64 {
    let bits = world::with(|world| world.chance.word()).unwrap_or_else(|| RandomState::new().hash_one(0));
    bits as f64 / u64::MAX as f64
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::time::any::a_time;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is asked for, no delay is longer than the longest, and none is shorter than the one before.
        #[test]
        fn delays_grow_up_to_the_longest(first in a_time(), max in a_time(), factor in 1.0..f64::MAX, part in 0.0..=1.0) {
            let even = Backoff::new(first).max(max).factor(factor);
            let delays: Vec<_> = [0, 1, 2, 1000, u32::MAX].map(|failures| even.delay(failures)).into();
            prop_assert!(delays.is_sorted(), "{:?}", delays);
            prop_assert!(*delays.last().unwrap() <= max);
            for failures in [0, 1, u32::MAX] {
                prop_assert!(even.jitter(part).delay(failures) <= even.delay(failures));
            }
        }
    }
}
