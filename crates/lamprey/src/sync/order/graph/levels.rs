//! Whether a new edge would close a cycle, without a search of the whole graph: the incremental cycle detection of Bender, Fineman, Gilbert
//! and Tarjan ("A New Approach to Incremental Cycle Detection and Related Problems", the algorithm for sparse graphs).
//!
//! Each lock has a level, and no accepted edge leads to a lower one: an edge that leads up closes no cycle. Otherwise the edges that lead
//! to the held lock on its level are followed backwards, up to [`MOST`]. If there are more, the taken lock gets the next level. A lock
//! that was raised raises those that were taken while it was held; who gets to the locks that were found backwards has found a cycle. Each
//! level but the last has so many edges that few levels are needed.
//!
//! # Rejected
//! To search all that was ever taken while the new lock was held: a millisecond for each new pair of a thousand locks, and 100 ms where a
//! lock had been held while 20,000 others were taken.

use super::Graph;
use std::collections::HashSet;

/// Most edges that are followed backwards.
const MOST: usize = 256;

impl Graph {
    /// True if there is a way from `taken` to `held`. Otherwise the levels allow for an edge from `held` to `taken`.
    pub(super) fn closes_a_cycle(&mut self, held: usize, taken: usize) -> bool {
        let (level, before) = (self.level(held), self.level(taken));
        if before > level {
            return false;
        }
        let (behind, is_all) = self.behind(held);
        if behind.contains(&taken) {
            return true;
        }
        match is_all {
            true if before == level => false,
            true => self.raise(taken, level, &behind),
            false => self.raise(taken, level + 1, &HashSet::from([held])),
        }
    }

    pub(super) fn level(&self, lock: usize) -> usize {
        self.0.get(&lock).map_or(0, |place| place.level)
    }

    /// The locks from which edges of its level lead to `lock`, and itself. False if there may be more.
    fn behind(&self, lock: usize) -> (HashSet<usize>, bool) {
        let (mut found, mut open, mut left) = (HashSet::from([lock]), vec![lock], MOST);
        while let Some(lock) = open.pop() {
            for &before in self.0.get(&lock).into_iter().flat_map(|place| &place.near) {
                if left == 0 {
                    return (found, false);
                }
                left -= 1;
                if found.insert(before) {
                    open.push(before);
                }
            }
        }
        (found, true)
    }

    /// Raises `lock` to `level`, and all to which edges lead from there. True if one of `behind` is among these.
    fn raise(&mut self, lock: usize, level: usize, behind: &HashSet<usize>) -> bool {
        self.set_level(lock, level);
        let (mut open, mut meets) = (vec![lock], false);
        while let Some(lock) = open.pop() {
            for next in self.accepted_after(lock).collect::<Vec<_>>() {
                meets |= behind.contains(&next);
                if self.level(next) < level {
                    self.set_level(next, level);
                    open.push(next);
                }
                if self.level(next) == level {
                    self.place(next).near.insert(lock);
                }
            }
        }
        meets
    }

    fn set_level(&mut self, lock: usize, level: usize) {
        let place = self.place(lock);
        place.level = level;
        place.near.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Graph;
    use std::panic::Location;

    /// Edges by chance between so many locks, some of which are dropped now and then: exactly those are reported that close a cycle.
    #[test]
    fn cycles_are_found_as_by_a_search_of_everything() {
        for locks in [5, 20, 60, 300] {
            let (mut graph, mut chance, site) = (Graph::default(), 1_u64, Location::caller());
            let mut below = |n: usize| {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                (chance % n as u64) as usize
            };
            let mut reports = 0;
            for _ in 0..4000 {
                if below(200) == 0 {
                    graph.forget(below(locks));
                }
                // Mostly upwards.
                let (one, other) = (below(locks), below(locks));
                let (held, taken) =
                    if below(20) == 0 { (one, other) } else { (one.min(other), one.max(other)) };
                let is_known = graph.0.get(&held).is_some_and(|place| place.after.contains_key(&taken));
                if held != taken && !is_known {
                    let closes = graph.path(taken, held).is_some();
                    reports += usize::from(closes);
                    assert_eq!(
                        graph.note(held, site, taken, site).is_some(),
                        closes,
                        "{held} before {taken}"
                    );
                }
                let place = graph.0.get(&held);
                assert!(
                    place.is_none_or(|place| place
                        .after
                        .iter()
                        .all(|(after, edge)| edge.reported || graph.level(*after) >= place.level)),
                    "an edge leads down from {held}"
                );
            }
            assert!(reports > 10, "{reports} reports");
        }
    }
}
