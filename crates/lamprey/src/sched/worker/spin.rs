//! How long an idle worker spins for a message before it sleeps.
//!
//! Spinning costs processor time, a sleep costs the wake: 5 us on one machine, 60 us on a virtual one whose host is busy.
//! So a worker measures what its wakes cost. Where a message came sooner after the worker had gone to sleep than a few
//! wakes take, it spins next time for as long as these, because the message that it then waits for may well begin with the
//! wake of another worker. (Two workers whose threads answer each other, each by a wake of the other, would else go on
//! so for ever: each gives up just before it is answered.) Each spin in vain halves the next one.

use std::time::Duration;

/// What a wake is taken to cost before the first has been measured.
const WAKE: Duration = Duration::from_micros(10);
/// The longest spin, in wakes: that of the other worker, that of one more for which it may wait, and as much again for what
/// their threads do meanwhile.
const WAKES: u32 = 4;
/// The bounds of the longest spin.
const LONGEST: (Duration, Duration) = (Duration::from_micros(40), Duration::from_micros(400));
/// The spin after a message that came late.
const SHORT: Duration = Duration::from_micros(10);
/// A shorter spin is none.
const LEAST: Duration = Duration::from_nanos(2500);

/// An idle worker's spin.
pub(in crate::sched) struct Spin {
    next: Duration,
    wake: Duration,
}

impl Spin {
    pub(in crate::sched) fn new() -> Self {
        Self { next: Duration::ZERO, wake: WAKE }
    }

    /// The length of the next spin.
    pub(in crate::sched) fn next(&self) -> Duration {
        self.next
    }

    fn longest(&self) -> Duration {
        (self.wake * WAKES).clamp(LONGEST.0, LONGEST.1)
    }

    /// The spin was ended by a message.
    pub(in crate::sched) fn paid(&mut self) {
        self.next = self.longest();
    }

    /// The spin was in vain.
    pub(in crate::sched) fn failed(&mut self) {
        self.next = if self.next < 2 * LEAST { Duration::ZERO } else { self.next / 2 };
    }

    /// A message came when the worker had slept for `slept`, and it took `wake` to wake up.
    pub(in crate::sched) fn slept(&mut self, slept: Duration, wake: Duration) {
        // A kernel thread that another program kept from running says little about the next one's wake.
        self.wake = (self.wake * 7 + wake.min(self.wake * 2)) / 8;
        let spin = if slept < self.longest() { self.longest() } else { SHORT };
        self.next = self.next.max(spin);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    #[test]
    fn answers_that_take_as_long_as_wakes_are_spun_for() {
        let mut spin = Spin::new();
        for _ in 0..20 {
            spin.slept(80 * MICRO, 60 * MICRO);
        }
        assert!(spin.next() > 200 * MICRO, "{:?}", spin.next());
    }

    #[test]
    fn messages_that_come_late_get_a_short_spin() {
        let mut spin = Spin::new();
        spin.slept(1000 * MICRO, 10 * MICRO);
        assert_eq!(spin.next(), SHORT);
    }

    #[test]
    fn a_spin_in_vain_is_halved_down_to_none() {
        let mut spin = Spin::new();
        spin.paid();
        assert_eq!(spin.next(), LONGEST.0);
        for _ in 0..4 {
            spin.failed();
        }
        assert_eq!(spin.next(), LEAST);
        spin.failed();
        assert_eq!(spin.next(), Duration::ZERO);
    }

    #[test]
    fn one_slow_wake_does_not_make_spins_long() {
        let mut spin = Spin::new();
        spin.slept(10 * MICRO, 1_000_000 * MICRO);
        spin.paid();
        assert!(spin.next() < 50 * MICRO, "{:?}", spin.next());
        for _ in 0..100 {
            spin.slept(10 * MICRO, 1_000_000 * MICRO);
        }
        assert_eq!(spin.next(), LONGEST.1);
    }
}
