//! Before a worker sleeps it lets the other threads of its core run once, and looks at its sockets again: [`Linger`].
//!
//! Where clients and servers share cores (a proxy, a test, a machine that is busy), the next request often comes from a thread
//! that waits for this core. To sleep, to be woken, and to be switched to costs some microseconds; a yield of the kernel
//! thread costs half of one, and afterwards more events are there at once. (A blocking HTTP server with 64 connections, on two
//! cores that it shares with its client, takes 0.75 times the processor time for a request: `interop-bench run http`.)
//!
//! Invariants
//! * Only a worker with something to look at lingers, and it looks once: it never spins.
//! * A yield that was in vain, or after which the worker got its core back late (another thread computes there, and a
//!   worker that sleeps would have been preferred to it), makes it rarer: up to one of [`RAREST`] sleeps.

use crate::time::clock;
use std::time::Duration;

/// A worker that gets its core back later than this has lost time by its yield.
const LATE: Duration = Duration::from_millis(1);
/// The most sleeps without a yield.
const RAREST: u32 = 4096;

/// When the worker yields before a sleep.
#[derive(Debug)]
pub(in crate::sched) struct Linger {
    /// So many sleeps come first.
    left: u32,
    /// How many come first after the next failure.
    next: u32,
    late: u64,
}

impl Linger {
    pub(super) fn new() -> Self {
        Self { left: 0, next: 1, late: clock::in_ticks(LATE) }
    }

    /// Counts a sleep: true if the worker is to yield before it.
    pub(in crate::sched) fn is_due(&mut self) -> bool {
        let due = self.left == 0;
        self.left -= u32::from(!due);
        due
    }

    /// The worker has yielded for so many ticks, and then something was ready or not.
    pub(in crate::sched) fn note(&mut self, ticks: u64, found: bool) {
        if found && ticks < self.late {
            self.next = 1;
            return;
        }
        self.left = self.next;
        self.next = (self.next * 2).min(RAREST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of sleeps, of so many, before which the worker yields, always in vain.
    fn in_vain(sleeps: usize) -> usize {
        let mut linger = Linger::new();
        (0..sleeps).filter(|_| linger.is_due().then(|| linger.note(1, false)).is_some()).count()
    }

    #[test]
    fn yields_in_vain_become_rare() {
        assert_eq!(in_vain(10), 3); // after 0, 1 and 2 sleeps without one
        assert!(in_vain(100_000) < 40);
    }

    #[test]
    fn a_late_return_is_a_failure_and_a_timely_find_forgives_all() {
        let mut linger = Linger::new();
        assert!(linger.is_due());
        linger.note(u64::MAX, true);
        assert!(!linger.is_due() && linger.is_due());
        linger.note(1, false);
        assert!(!linger.is_due() && !linger.is_due() && linger.is_due());
        linger.note(1, true);
        assert!(linger.is_due());
    }
}
