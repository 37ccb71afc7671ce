//! What a supervisor does about a child that has ended: whether it is started again, who else is, and when.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::time::Duration;

/// When a child is started again. One that has been cancelled never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Restart {
    /// Whenever it has ended: for what is to run as long as the supervisor. (Erlang/OTP: permanent)
    Always,
    /// When it has failed: it has panicked, or returned an `Err`. (transient)
    OnFailure,
    /// Never. (temporary)
    Never,
}

/// Who is stopped, and started again, with a child that is started again.
///
/// Those who are stopped are stopped the last one first, and started in the order in which they were added.
/// One that had ended, or was to run [once](Restart::Never), is not started again for the sake of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Nobody: the children do not know of each other.
    OneForOne,
    /// All the others: each relies on each.
    OneForAll,
    /// Those that were added after it: each relies on those before it.
    RestForOne,
}

impl Strategy {
    /// The children that share the fate of `child`, of `count`.
    pub(super) fn group(self, child: usize, count: usize) -> Range<usize> {
        match self {
            Self::OneForOne => child..child + 1,
            Self::OneForAll => 0..count,
            Self::RestForOne => child..count,
        }
    }
}

/// How long a supervisor waits before it starts a child again: a first delay, that grows by a factor with
/// each failure in a row, up to a maximum. A child that has run for as long as the
/// [window](super::Supervisor::limit) begins anew.
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
    /// Doubles from `first` on, up to 10 seconds (or `first`, if that is longer), without jitter. With
    /// [`Duration::ZERO`] it does not wait.
    pub const fn new(first: Duration) -> Self {
        let max = Duration::from_secs(10);
        let max = if first.as_nanos() > max.as_nanos() { first } else { max };
        Self { first, factor: 2.0, max, jitter: 0.0 }
    }

    /// What each delay is multiplied with to get the next.
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

    /// The part of each delay that is left to chance, from 0 to 1: so that many who failed together do not
    /// all come back together.
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

    /// The delay after so many failures in a row before this one.
    pub(super) fn delay(&self, failures: u32) -> Duration {
        let seconds = self.first.as_secs_f64() * self.factor.powf(f64::from(failures));
        // An error: longer than a `Duration` can be.
        let delay = Duration::try_from_secs_f64(seconds).map_or(self.max, |delay| delay.min(self.max));
        if self.jitter == 0.0 { delay } else { delay.mul_f64(1.0 - self.jitter * chance()) }
    }
}

impl Default for Backoff {
    /// 100 ms, doubled up to 10 s.
    fn default() -> Self {
        Self::new(Duration::from_millis(100))
    }
}

/// Any number from 0 to 1: std's hashers have another key each.
fn chance() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}
