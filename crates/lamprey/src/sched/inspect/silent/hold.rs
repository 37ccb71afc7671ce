//! For how long a thread has held its worker: the time in which the worker's kernel thread computed, or slept in the kernel,
//! since the worker's counters last changed.
//!
//! Time in which the kernel thread was ready, and others had the processor, does not count, nor does time in which a debugger
//! had stopped it: on a loaded machine a thread that does nothing wrong is away for that long.
//!
//! The counters are those of the worker's root, which runs only now and then while hosts switch to each other. So a worker
//! whose counters do not change is first asked to run its root at the next scheduling point; what it is held from then on
//! counts.

use crate::kernel::tasks;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::time::{Duration, Instant};

/// The shortest time that counts as long.
const SHORTEST: Duration = Duration::from_millis(10);

/// What is known of a worker between two looks.
#[derive(Debug)]
pub(super) struct Hold {
    /// The worker's counters.
    counters: (u64, u64),
    /// When they were last seen to change.
    since: Instant,
    last: Sight,
    /// The time that counts.
    held: Duration,
    is_asked: bool,
    /// The worker is inspected when it has been held for so long.
    next: Duration,
}

/// What a worker's kernel thread had done up to a moment.
#[derive(Debug, Clone, Copy)]
struct Sight {
    at: Instant,
    computed: Duration,
    /// How long it had been ready without a processor; `None` if that was not read.
    waited: Option<Duration>,
    does: Does,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It computes, or is ready to.
    Run,
    /// It sleeps in the kernel.
    Sleep,
    /// A debugger has stopped it.
    Stop,
}

impl Hold {
    pub(super) fn new(limit: Duration) -> Self {
        let last = Sight { at: Instant::now(), computed: Duration::ZERO, waited: None, does: Does::Run };
        let next = limit.max(SHORTEST);
        Self { counters: (0, 0), since: last.at, last, held: Duration::ZERO, is_asked: false, next }
    }

    /// Looks at the worker; false if it sleeps, or has done something since the last look.
    pub(super) fn goes_on(&mut self, remote: &WorkerShared, limit: Duration) -> bool {
        let counters = (remote.counters.rounds.get(), remote.counters.attached.get());
        if counters == self.counters && !remote.parking.is_asleep() {
            let now = Sight::of(remote);
            self.held += self.last.held_until(&now);
            self.last = now;
            return true;
        }
        *self = Self { counters, ..Self::new(limit) };
        self.last.computed = remote.has_run_for();
        false
    }

    /// True if the worker is to be asked to run its root now. From now on the time counts. One whose thread sleeps in the kernel
    /// is not: a signal would end the call.
    pub(super) fn is_to_be_asked(&mut self, limit: Duration) -> bool {
        // One that has not computed would not even answer: it has no processor.
        let is_new = !self.is_asked && !self.sleeps() && self.held >= limit / 8;
        if is_new {
            (self.is_asked, self.held) = (true, Duration::ZERO);
        }
        is_new
    }

    /// True if the worker is to be inspected now: ever more rarely, because the signal for it interrupts system calls.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = (self.is_asked || self.sleeps()) && self.held >= self.next;
        if is_due {
            self.next = self.held.saturating_mul(2).max(self.next);
        }
        is_due
    }

    /// The time that counts.
    pub(super) fn held(&self) -> Duration {
        self.held
    }

    /// The time on the clock.
    pub(super) fn since(&self) -> Duration {
        self.since.elapsed()
    }

    /// True if its kernel thread slept when it was last looked at.
    pub(super) fn sleeps(&self) -> bool {
        self.last.does == Does::Sleep
    }
}

impl Sight {
    fn of(remote: &WorkerShared) -> Self {
        // Relaxed: a number; a stale one names a kernel thread that is no worker.
        let tid = remote.tid.load(Ordering::Relaxed);
        let does = match tasks::of(tid).and_then(|task| task.state()) {
            Some('S' | 'D') => Does::Sleep,
            Some('T' | 't') => Does::Stop,
            _ => Does::Run,
        };
        Self { at: Instant::now(), computed: remote.has_run_for(), waited: Some(tasks::waited(tid)), does }
    }

    /// How much of the time from this moment to that one counts.
    fn held_until(&self, now: &Self) -> Duration {
        let computed = now.computed.saturating_sub(self.computed);
        match (self.waited, now.waited) {
            (Some(before), Some(after)) if now.does == Does::Sleep && self.does != Does::Stop => {
                let was_ready = after.saturating_sub(before);
                now.at.saturating_duration_since(self.at).saturating_sub(was_ready).max(computed)
            }
            _ => computed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At so many milliseconds of the clock, of computing and of waiting for a processor.
    fn sight(at: u64, computed: u64, waited: u64, does: Does) -> Sight {
        let ms = Duration::from_millis;
        static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        Sight { at: *START + ms(at), computed: ms(computed), waited: Some(ms(waited)), does }
    }

    #[test]
    fn only_what_the_thread_itself_does_counts() {
        use Does::{Run, Sleep, Stop};
        let before = |does| sight(100, 10, 5, does);
        for (from, to, held) in [
            // It computes all the time; half of it; not at all, because others do.
            (before(Run), sight(200, 110, 5, Run), 100),
            (before(Run), sight(200, 60, 55, Run), 50),
            (before(Run), sight(200, 10, 105, Run), 0),
            // It was stopped, and not counted anywhere.
            (before(Run), sight(200, 10, 5, Stop), 0),
            (before(Stop), sight(200, 10, 5, Sleep), 0),
            (before(Stop), sight(200, 110, 5, Run), 100),
            // It sleeps; it sleeps and computes; it sleeps, and waits for a processor in between.
            (before(Sleep), sight(200, 10, 5, Sleep), 100),
            (before(Run), sight(200, 60, 5, Sleep), 100),
            (before(Sleep), sight(200, 20, 45, Sleep), 60),
            // Clocks that differ a bit.
            (before(Sleep), sight(200, 112, 5, Sleep), 102),
        ] {
            assert_eq!(from.held_until(&to), Duration::from_millis(held), "{from:?} to {to:?}");
        }
        let unread = Sight { waited: None, ..before(Run) };
        assert_eq!(unread.held_until(&sight(200, 10, 900, Sleep)), Duration::ZERO);
    }

    #[test]
    fn what_computes_is_asked_before_its_time_counts() {
        let (limit, ms) = (Duration::from_millis(100), Duration::from_millis);
        let mut hold = Hold::new(limit);
        assert!(!hold.is_to_be_asked(limit), "it has had no processor");
        hold.held = ms(500);
        assert!(!hold.is_due());
        assert!(hold.is_to_be_asked(limit) && !hold.is_to_be_asked(limit));
        assert!(!hold.is_due());
        hold.held += ms(100);
        assert!(hold.is_due());

        let mut hold = Hold::new(limit);
        (hold.held, hold.last.does) = (ms(100), Does::Sleep);
        assert!(!hold.is_to_be_asked(limit) && hold.is_due(), "a signal would end its call");
    }

    #[test]
    fn inspections_are_ever_more_rare() {
        let mut hold = Hold::new(Duration::from_millis(100));
        hold.is_asked = true;
        let mut at = Vec::new();
        for n in 0..100 {
            hold.held = Duration::from_millis(25 * n);
            if hold.is_due() {
                at.push(25 * n);
            }
        }
        assert_eq!(at, [100, 200, 400, 800, 1600]);
    }
}
