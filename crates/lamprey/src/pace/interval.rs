//! `interval`: ticks at regular instants.
//!
//! # Invariants
//! The next tick is counted from the previous one only when a tick has been returned: a tick whose wait is cancelled, dropped
//! or limited in time is still due.

use crate::event::{Event, at};
use crate::sched::coop_async::take_a_turn_async;
use crate::sleep::{sleep_until, sleep_until_async};
use crate::time::far_away;
use crate::world;
use std::time::{Duration, Instant};

/// A tick that is later than this counts as missed. Waking up takes a while, and is no reason to move the others.
const LATE: Duration = Duration::from_millis(5);

/// Ticks at once, and then every `period`.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// lamprey::run(|| {
///     let start = Instant::now();
///     let mut ticks = lamprey::interval(Duration::from_millis(2));
///     for _ in 0..4 {
///         ticks.tick(); // at 0, 2, 4 and 6 ms
///     }
///     assert!(start.elapsed() >= Duration::from_millis(6));
/// });
/// ```
///
/// # Panics
/// If `period` is zero.
#[doc(alias = "NewTicker")]
#[doc(alias = "Ticker")]
#[doc(alias = "every")]
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(world::now(), period)
}

/// Ticks at `start`, and then every `period`.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// # lamprey::run(|| {
/// let start = Instant::now() + Duration::from_millis(2);
/// assert_eq!(lamprey::interval_at(start, Duration::from_secs(1)).tick(), start);
/// # });
/// ```
///
/// # Panics
/// If `period` is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "the period of an interval must be longer than zero");
    Interval { next: Some(start), period, missed: MissedTicks::default() }
}

/// What an [`Interval`] does about ticks that nobody has waited for in time: each is more than 5 ms late.
#[doc(alias = "MissedTickBehavior")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTicks {
    /// They come one after another, without a wait, until the interval has caught up. As many ticks as periods.
    #[default]
    Burst,
    /// The next one comes a period after the late one: never two within a period.
    Delay,
    /// They are left out: the next one comes at the next multiple of the period. Go's `Ticker` does this.
    Skip,
}

/// What [`interval`] returns.
#[doc(alias = "Ticker")]
#[derive(Debug)]
pub struct Interval {
    /// `None`: later than the clock can tell, which is never.
    next: Option<Instant>,
    period: Duration,
    missed: MissedTicks,
}

impl Interval {
    /// Waits for the next tick, and returns the instant that it was due at.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; the tick is still due.
    ///
    /// # Blocking
    /// As [`sleep`](crate::sleep).
    pub fn tick(&mut self) -> Instant {
        loop {
            // Also if it is late: here others get their turn, and a cancellation is seen.
            match self.next {
                Some(next) => sleep_until(next),
                None => crate::sleep::sleep(Duration::MAX),
            }
            if self.next.is_some_and(|next| next <= world::now()) {
                return self.took_place();
            }
        }
    }

    /// The awaitable form of [`tick`](Self::tick).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// let mut ticks = lamprey::interval(Duration::from_millis(1));
    /// lamprey::wait(async {
    ///     let first = ticks.tick_async().await;
    ///     assert_eq!(ticks.tick_async().await, first + Duration::from_millis(1));
    /// });
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the tick is still due.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn tick_async(&mut self) -> Instant {
        take_a_turn_async(1).await;
        match self.next {
            Some(next) => sleep_until_async(next).await,
            None => std::future::pending().await,
        }
        self.took_place()
    }

    /// [`tick`](Self::tick) as an event.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::{Event, choose};
    ///
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// lamprey::spawn(move || {
    ///     lamprey::sleep(Duration::from_millis(5));
    ///     tx.send("done").unwrap()
    /// });
    /// let mut ticks = lamprey::interval(Duration::from_millis(1));
    /// loop {
    ///     let done = rx.recv_evt().wrap(Result::ok);
    ///     match choose((done, ticks.tick_evt().wrap(|_| None))).sync() {
    ///         None => print!("."),
    ///         message => break assert_eq!(message, Some("done")),
    ///     }
    /// }
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// The commit point is when the event is chosen; if another one is, the tick is still due.
    pub fn tick_evt(&mut self) -> impl Event<Output = Instant> + '_ {
        at(self.next.unwrap_or_else(far_away)).wrap(move |()| self.took_place())
    }

    /// [`tick_evt`](Self::tick_evt) that owns the interval, which comes back with the tick. If another event is chosen, it is
    /// dropped.
    pub fn into_tick_evt(mut self) -> impl Event<Output = (Instant, Self)> {
        at(self.next.unwrap_or_else(far_away)).wrap(move |()| (self.took_place(), self))
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// What happens about ticks that are missed. Default: [`MissedTicks::Burst`].
    pub fn missed_ticks(&self) -> MissedTicks {
        self.missed
    }

    /// Decides what happens about ticks that are missed.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::MissedTicks;
    ///
    /// # lamprey::run(|| {
    /// let mut ticks = lamprey::interval(Duration::from_millis(10));
    /// ticks.set_missed_ticks(MissedTicks::Skip);
    /// let first = ticks.tick();
    /// lamprey::sleep(Duration::from_millis(35)); // too long
    /// assert_eq!(ticks.tick(), first + Duration::from_millis(10));
    /// let next = ticks.tick();
    /// assert!(next >= first + Duration::from_millis(40));
    /// assert_eq!((next - first).as_millis() % 10, 0);
    /// # });
    /// ```
    #[doc(alias = "set_missed_tick_behavior")]
    pub fn set_missed_ticks(&mut self, missed: MissedTicks) {
        self.missed = missed;
    }

    /// The next tick comes a period from now.
    pub fn reset(&mut self) {
        self.next = world::now().checked_add(self.period);
    }

    /// The next tick comes at once.
    pub fn reset_immediately(&mut self) {
        self.next = Some(world::now());
    }

    /// The next tick comes at `instant`.
    pub fn reset_at(&mut self, instant: Instant) {
        self.next = Some(instant);
    }

    /// A tick is returned: when it was due. Decides when the next one is.
    fn took_place(&mut self) -> Instant {
        let now = world::now();
        let due = self.next.unwrap_or(now);
        let late = now.saturating_duration_since(due);
        self.next = match self.missed {
            MissedTicks::Delay if late > LATE => now.checked_add(self.period),
            MissedTicks::Skip if late > LATE => after_now(due, late, self.period),
            _ => due.checked_add(self.period),
        };
        due
    }
}

/// The first instant that is later than `due + late` and a multiple of `period` after `due`.
fn after_now(due: Instant, late: Duration, period: Duration) -> Option<Instant> {
    let into_period = late.as_nanos() % period.as_nanos();
    // Both are less than a period, which fits.
    let rest =
        period - Duration::new((into_period / 1_000_000_000) as u64, (into_period % 1_000_000_000) as u32);
    due.checked_add(late)?.checked_add(rest)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::time::any::a_time;
    use proptest::prelude::*;

    proptest! {
        /// The tick after those that were missed, as whole numbers of any size have it.
        #[test]
        fn missed_ticks_are_skipped(late in a_time(), period in a_time()) {
            prop_assume!(!period.is_zero());
            let due = Instant::now();
            let next = (late.as_nanos() / period.as_nanos() + 1) * period.as_nanos();
            match after_now(due, late, period) {
                Some(at) => prop_assert_eq!((at - due).as_nanos(), next),
                None => prop_assert!(next > u128::from(i64::MAX as u64 / 2) * 1_000_000_000),
            }
        }
    }
}
