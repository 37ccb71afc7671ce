//! [`Schedule`]: which of the ready threads runs next.

use super::ready::{Entry, ReadyList};
use crate::world::{MachineId, World};
use std::collections::BTreeMap;

/// How a simulation chooses which of the ready threads runs next, and at which calls the running one gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// Each run by its seed: most `Random`, some `Pct`. For [`explore`](super::explore), as different bugs are found by
    /// different schedules.
    #[default]
    Mixed,
    /// Any thread, all with the same probability. How often threads give way is different from run to run.
    Random,
    /// Threads have priorities by chance, and the highest runs; at `depth - 1` steps by chance the running one becomes the
    /// lowest. A bug that needs `depth` orderings to be just so is found with a probability that is known to be not too
    /// small: at least 1 / (threads * steps^(depth - 1)) in each run (Burckhardt et al., "A randomized scheduler with
    /// probabilistic guarantees of finding bugs", 2010).
    Pct {
        /// How many orderings a bug may depend on; 1 and 2 find most.
        depth: u32,
    },
    /// Each in turn, and each call that may block gives way.
    RoundRobin,
}

/// Priorities of threads that have been lowered are below this one.
const LOWERED: u64 = 1 << 40;
/// Rates of giving way, in a million.
const RATES: [u32; 4] = [500_000, 150_000, 30_000, 5_000];

/// A schedule at work.
pub(super) struct Scheduler {
    schedule: Schedule,
    priorities: BTreeMap<(MachineId, u64), u64>,
    /// The steps at which the running thread becomes the lowest, descending.
    changes: Vec<u64>,
    steps: u64,
    /// The lowest priority so far.
    lowest: u64,
}

impl Scheduler {
    pub(super) fn new(schedule: Schedule, world: &World) -> Self {
        let chance = &world.chance;
        let schedule = match schedule {
            Schedule::Mixed if chance.below(4) == 3 => Schedule::Pct { depth: 1 + chance.below(4) },
            Schedule::Mixed => Schedule::Random,
            other => other,
        };
        let mut changes = Vec::new();
        let rate = match schedule {
            Schedule::Pct { depth } => {
                // The length of the run is not known.
                let length = 16 << chance.below(12);
                changes.extend((1..depth).map(|_| u64::from(chance.below(length))));
                changes.sort_unstable_by(|one, other| other.cmp(one));
                1_000_000
            }
            Schedule::RoundRobin => 1_000_000,
            Schedule::Random | Schedule::Mixed => RATES[chance.below(RATES.len() as u32) as usize],
        };
        world.set_switches(rate);
        Self { schedule, priorities: BTreeMap::new(), changes, steps: 0, lowest: LOWERED }
    }

    /// Takes the next thread out of the list.
    pub(super) fn take(&mut self, list: &ReadyList, world: &World) -> Option<Entry> {
        let mut entries = list.entries.borrow_mut();
        self.steps += 1;
        let at = match self.schedule {
            Schedule::RoundRobin => 0,
            Schedule::Pct { .. } => {
                // A thread that yields waits for others, which otherwise would never run.
                for entry in entries.iter_mut() {
                    if std::mem::take(&mut entry.yielded) {
                        self.lower(entry);
                    }
                }
                entries.iter().enumerate().rev().max_by_key(|(_, entry)| self.priority(entry, world))?.0
            }
            Schedule::Random | Schedule::Mixed => world.chance.below(entries.len() as u32) as usize,
        };
        // The others keep their order: a draw that is left out (when a run is shrunk) takes the oldest.
        let entry = entries.remove(at)?;
        let who = (entry.at.machine, entry.id);
        if self.changes.last().is_some_and(|at| *at <= self.steps) {
            self.changes.pop();
            self.lower(&entry);
        }
        if entry.is_stackless() {
            self.priorities.remove(&who);
        }
        Some(entry)
    }

    /// Makes a thread the lowest of all.
    fn lower(&mut self, entry: &Entry) {
        self.lowest = self.lowest.saturating_sub(1);
        self.priorities.insert((entry.at.machine, entry.id), self.lowest);
    }

    fn priority(&mut self, entry: &Entry, world: &World) -> u64 {
        let who = (entry.at.machine, entry.id);
        *self.priorities.entry(who).or_insert_with(|| LOWERED + u64::from(world.chance.below(u32::MAX)))
    }
}
