//! How long an idle worker spins for a message before it sleeps.
//!
//! Spinning costs processor time, a sleep costs the wake: 5 us on one machine, 60 us on a virtual one whose host is busy.
//! So a worker measures what its wakes cost. Where a message came sooner after the worker had gone to sleep than a few
//! wakes take, it spins next time for as long as these, because the message that it then waits for may well begin with the
//! wake of another worker. (Two workers whose threads answer each other, each by a wake of the other, would else go on
//! so for ever: each gives up just before it is answered.) Each spin in vain halves the next one.
//!
//! A message that comes within one wake was worth the spin. For all other spins a worker has a credit, to which an eighth
//! of the time is added: messages that come every 200 us, say, from a thread outside, do not keep a CPU busy.

use std::time::{Duration, Instant};

/// What a wake is taken to cost before the first has been measured.
const WAKE: Duration = Duration::from_micros(10);
/// The longest spin, in wakes: that of the other worker, that of one more for which it may wait, and as much again for what
/// their threads do meanwhile.
const WAKES: u32 = 4;
/// The bounds of the longest spin. Spins up to the first one need no credit.
const LONGEST: (Duration, Duration) = (Duration::from_micros(40), Duration::from_micros(400));
/// The spin after a message that came late.
const SHORT: Duration = Duration::from_micros(10);
/// A shorter spin is none.
const LEAST: Duration = Duration::from_nanos(2500);
/// The most credit.
const CREDIT: Duration = Duration::from_millis(4);
/// The part of the time that is added to the credit.
const PART: u32 = 8;

/// An idle worker's spin.
pub(in crate::sched) struct Spin {
    next: Duration,
    wake: Duration,
    credit: Duration,
    /// When the credit was added to.
    added: Instant,
}

impl Spin {
    pub(in crate::sched) fn new() -> Self {
        Self { next: Duration::ZERO, wake: WAKE, credit: CREDIT, added: Instant::now() }
    }

    /// The length of the next spin.
    pub(in crate::sched) fn next(&self) -> Duration {
        self.next
    }

    /// The spin was ended by a message, after `waited`.
    pub(in crate::sched) fn paid(&mut self, waited: Duration) {
        self.pay(waited);
        self.next = self.next.max(self.longest());
    }

    /// The spin was in vain.
    pub(in crate::sched) fn failed(&mut self, waited: Duration) {
        self.pay(waited);
        self.next = if self.next < 2 * LEAST { Duration::ZERO } else { self.next / 2 };
    }

    /// A message came when the worker had slept for `slept`, and it took `wake` to wake up.
    pub(in crate::sched) fn slept(&mut self, slept: Duration, wake: Duration, now: Instant) {
        // A kernel thread that another program kept from running says little about the next one's wake.
        self.wake = (self.wake * 7 + wake.min(self.wake * 2)) / 8;
        self.credit = (self.credit + now.saturating_duration_since(self.added) / PART).min(CREDIT);
        self.added = now;
        let longest = self.longest();
        self.next = self.next.max(if slept < longest { longest } else { SHORT });
    }

    /// The longest spin that there is credit for.
    fn longest(&self) -> Duration {
        let longest = (self.wake * WAKES).clamp(LONGEST.0, LONGEST.1);
        if self.credit < longest { self.free() } else { longest }
    }

    /// Spins up to this length need no credit.
    fn free(&self) -> Duration {
        self.wake.clamp(LONGEST.0, LONGEST.1)
    }

    fn pay(&mut self, waited: Duration) {
        if waited > self.free() {
            self.credit = self.credit.saturating_sub(waited);
            self.next = self.next.min(self.longest());
        }
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
            spin.slept(80 * MICRO, 60 * MICRO, Instant::now());
        }
        assert!(spin.next() > 200 * MICRO, "{:?}", spin.next());
        for _ in 0..1000 {
            spin.paid(30 * MICRO);
        }
        assert!(spin.next() > 200 * MICRO, "{:?}", spin.next());
    }

    #[test]
    fn messages_that_come_late_get_a_short_spin() {
        let mut spin = Spin::new();
        spin.slept(1000 * MICRO, 10 * MICRO, Instant::now());
        assert_eq!(spin.next(), SHORT);
    }

    #[test]
    fn a_spin_in_vain_is_halved_down_to_none() {
        let mut spin = Spin::new();
        spin.paid(MICRO);
        assert_eq!(spin.next(), LONGEST.0);
        for _ in 0..4 {
            spin.failed(spin.next());
        }
        assert_eq!(spin.next(), LEAST);
        spin.failed(LEAST);
        assert_eq!(spin.next(), Duration::ZERO);
    }

    #[test]
    fn one_slow_wake_does_not_make_spins_long() {
        let mut spin = Spin::new();
        spin.slept(10 * MICRO, 1_000_000 * MICRO, Instant::now());
        spin.paid(MICRO);
        assert!(spin.next() < 50 * MICRO, "{:?}", spin.next());
        for _ in 0..100 {
            spin.slept(10 * MICRO, 1_000_000 * MICRO, Instant::now());
        }
        assert_eq!(spin.next(), LONGEST.1);
    }

    /// A second of messages every 200 us from a thread that waits for nothing, where a wake takes 60 us.
    #[test]
    fn messages_at_long_intervals_do_not_keep_a_cpu_busy() {
        let (mut spin, mut now, mut spun) = (Spin::new(), Instant::now(), Duration::ZERO);
        for _ in 0..5000 {
            now += 200 * MICRO;
            let next = spin.next();
            if next >= 200 * MICRO {
                spun += 200 * MICRO;
                spin.paid(200 * MICRO);
            } else {
                spun += next;
                spin.failed(next);
                spin.slept(200 * MICRO - next, 60 * MICRO, now);
            }
        }
        assert!(spun < Duration::from_millis(450), "{spun:?}");
    }
}
