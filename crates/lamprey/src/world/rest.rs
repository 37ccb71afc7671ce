//! Code that would park the kernel thread of a simulation.

use super::World;
use std::time::Instant;

impl World {
    /// The calling kernel thread would park until it is woken or a time has come.
    ///
    /// Code outside of the simulation's threads, such as a call on the blocking pool, has the simulation run meanwhile. A
    /// host that parks, because it unwinds or must not switch, holds up all others: only the clock can go on.
    pub(crate) fn rest(&self, is_woken: &dyn Fn() -> bool, until: Option<Instant>) {
        let is_over = || is_woken() || until.is_some_and(|until| self.now() >= until);
        let in_host = self.in_worker.get();
        match until {
            Some(until) if in_host => self.advance_to(until),
            None if in_host => self.never(),
            _ => {
                if !self.drive.get().is_some_and(|drive| drive(&is_over)) {
                    self.never();
                }
            }
        }
    }

    /// Ends the process: what is waited for never comes.
    fn never(&self) -> ! {
        let who = if self.in_worker.get() {
            "a host that unwinds, or must not switch,"
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
