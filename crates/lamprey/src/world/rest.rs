//! Code that would park the kernel thread of a simulation.

use super::World;
use std::time::Instant;

impl World {
    /// The calling kernel thread would park until it is woken or a time has come.
    ///
    /// Code outside of the simulation's threads, such as a call on the blocking pool, has the simulation run meanwhile. A
    /// thread that parks because it unwinds, or must not switch, holds up all others: only the clock can go on.
    pub(crate) fn rest(&self, is_woken: &dyn Fn() -> bool, until: Option<Instant>) {
        let until = until.filter(|&until| self.reaches(until));
        let is_over = || is_woken() || until.is_some_and(|until| self.now() >= until);
        let went_on = match until {
            // Others cannot run, so nobody wakes it before.
            Some(until) if self.holds_up() => return self.advance_to(until),
            None if self.holds_up() => false,
            until => {
                // The clock goes on to the limit, even if nothing else is to happen.
                let left = until.map(|until| until.saturating_duration_since(self.now()));
                left.into_iter().for_each(|left| self.after(left, |_| ()));
                self.drive.get().is_some_and(|drive| drive(&is_over))
            }
        };
        if !went_on {
            self.never();
        }
    }

    /// A host, or a call that unwinds: the others would run with its panic under way.
    fn holds_up(&self) -> bool {
        self.in_worker.get() || std::thread::panicking()
    }

    /// Ends the process: what is waited for never comes.
    fn never(&self) -> ! {
        let who = if self.holds_up() {
            "a thread that unwinds, or must not switch,"
        } else {
            "a call on the blocking pool"
        };
        crate::bug::say!(
            "{who} waits for another thread: in a simulation, which has one kernel thread, that never ends (LAMPREY_SEED={})",
            self.chance.draws()
        );
        std::process::abort()
    }

    /// A worker has the kernel thread now, or has it no longer.
    pub(crate) fn set_in_worker(&self, is_in: bool) {
        self.in_worker.set(is_in);
    }
}
