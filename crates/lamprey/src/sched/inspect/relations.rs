//! Which of the threads that were found wait for which others: who joins a thread waits for it, and who waits for a lock waits
//! for those that hold it.
//!
//! Each such wait ends only after the other thread has got on. So threads in a cycle wait for ever, unless one is cancelled.

use super::found::Found;
use crate::sched::reason::Wait;
use std::collections::{HashMap, HashSet};
use std::panic::Location;

/// A thread that another one waits for, by its place among those that were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocker {
    pub(super) thread: usize,
    /// Where it has taken the lock; `None` if it is joined.
    pub(super) site: Option<&'static Location<'static>>,
}

/// For threads that were found: those that they wait for.
pub(super) struct Relations {
    blockers: HashMap<usize, Vec<Blocker>>,
    /// Those whose wait ends at a time limit.
    limited: HashSet<usize>,
}

impl Relations {
    pub(super) fn of(found: &[Found]) -> Self {
        // `None`: parasites of several runtimes that have one number.
        let mut at: HashMap<usize, Option<usize>> = HashMap::new();
        let mut holders: HashMap<usize, Vec<Blocker>> = HashMap::new();
        for (place, thread) in found.iter().enumerate() {
            at.entry(thread.address).and_modify(|at| *at = None).or_insert(Some(place));
            for holding in &thread.holds {
                let site = Some(holding.site);
                holders.entry(holding.lock).or_default().push(Blocker { thread: place, site });
            }
        }
        let blockers = |thread: &Found| match thread.wait? {
            _ if thread.on == 0 => None,
            Wait::Join => at.get(&thread.on)?.map(|thread| vec![Blocker { thread, site: None }]),
            Wait::Lock | Wait::Read | Wait::Write => holders.get(&thread.on).cloned(),
            _ => None,
        };
        let all = || found.iter().enumerate();
        Self {
            blockers: all()
                .filter_map(|(place, thread)| blockers(thread).map(|some| (place, some)))
                .collect(),
            limited: all().filter(|(_, thread)| thread.is_limited).map(|(place, _)| place).collect(),
        }
    }

    /// Those that the thread at this place waits for, as far as that is known.
    pub(super) fn blockers(&self, place: usize) -> &[Blocker] {
        self.blockers.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Cycles of threads that each wait, without a time limit, for the next one, and the last one for the first; each thread is
    /// in one at most.
    pub(super) fn cycles(&self) -> Vec<Vec<usize>> {
        let mut cycles = Vec::new();
        let mut is_over: HashMap<usize, bool> = self.limited.iter().map(|place| (*place, true)).collect();
        let mut starts: Vec<_> = self.blockers.keys().copied().collect();
        starts.sort_unstable();
        for start in starts {
            // The threads on the way, each with the number of its blockers that have been followed.
            let mut way = if is_over.contains_key(&start) { Vec::new() } else { vec![(start, 0)] };
            while let Some((thread, followed)) = way.last_mut() {
                is_over.entry(*thread).or_insert(false);
                let Some(next) = self.blockers(*thread).get(*followed).map(|blocker| blocker.thread) else {
                    is_over.insert(*thread, true);
                    way.pop();
                    continue;
                };
                *followed += 1;
                match is_over.get(&next) {
                    Some(true) => {}
                    None => way.push((next, 0)),
                    Some(false) => {
                        let from = way.iter().position(|(thread, _)| *thread == next).unwrap_or(0);
                        let cycle: Vec<_> = way.drain(from..).map(|(thread, _)| thread).collect();
                        is_over.extend(cycle.iter().map(|thread| (*thread, true)));
                        cycles.push(cycle);
                    }
                }
            }
        }
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocker, Relations};
    use std::collections::HashSet;

    /// A thread with a time limit.
    const LIMITED: usize = 9;

    fn cycles(edges: &[(usize, &[usize])]) -> Vec<Vec<usize>> {
        let blockers =
            |threads: &[usize]| threads.iter().map(|&thread| Blocker { thread, site: None }).collect();
        let blockers = edges.iter().map(|(from, to)| (*from, blockers(to))).collect();
        Relations { blockers, limited: HashSet::from([LIMITED]) }.cycles()
    }

    #[test]
    fn who_waits_for_a_time_is_in_no_cycle() {
        assert!(cycles(&[(1, &[LIMITED]), (LIMITED, &[1])]).is_empty());
    }

    #[test]
    fn threads_that_wait_in_a_ring_are_a_cycle() {
        assert_eq!(cycles(&[(1, &[2]), (2, &[3]), (3, &[1]), (7, &[1])]), [[1, 2, 3]]);
    }

    #[test]
    fn who_waits_for_itself_is_a_cycle() {
        assert_eq!(cycles(&[(4, &[4])]), [[4]]);
    }

    #[test]
    fn a_chain_and_two_ways_to_one_thread_are_none() {
        assert!(cycles(&[(1, &[2, 3]), (2, &[4]), (3, &[4])]).is_empty());
        let chain: Vec<_> = (0..100_000).map(|thread| (thread, [thread + 1])).collect();
        let edges: Vec<_> = chain.iter().map(|(from, to)| (*from, to.as_slice())).collect();
        assert!(cycles(&edges).is_empty());
    }

    #[test]
    fn a_cycle_behind_one_of_several_holders_is_found() {
        assert_eq!(cycles(&[(1, &[5, 2]), (2, &[1])]), [[1, 2]]);
    }

    #[test]
    fn two_cycles_are_two() {
        assert_eq!(cycles(&[(1, &[2]), (2, &[1]), (3, &[4]), (4, &[3]), (5, &[1, 3])]).len(), 2);
    }
}
