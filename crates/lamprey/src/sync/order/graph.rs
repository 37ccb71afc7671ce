//! The process's graph of lock orders: an edge from A to B says that B was taken while A was held.
//!
//! Invariants:
//! 1. The accepted edges have no cycle: an edge that would close a cycle is kept, marked as reported, and not
//!    followed.
//! 2. `after` and `before` hold the same edges from both ends.
//! 3. A lock that was never taken together with another is not in the graph, and neither is a dropped one.
//! 4. No accepted edge leads to a lower level ([`levels`]).

mod levels;

use super::{Site, settings};
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::sync::{LazyLock, PoisonError};

#[derive(Default)]
struct Graph(HashMap<usize, SeenAt>);

/// The edges of a lock.
#[derive(Default)]
struct SeenAt {
    /// The locks taken while this one was held.
    after: HashMap<usize, Taken>,
    /// The locks held while this one was taken.
    before: HashSet<usize>,
    level: usize,
    /// Those of `before` of the same level whose edges are accepted.
    near: HashSet<usize>,
}

#[derive(Clone, Copy)]
struct Taken {
    /// Where the held lock had been taken.
    held_at: Site,
    at: Site,
    /// True if it contradicts earlier edges.
    reported: bool,
}

static GRAPH: LazyLock<Mutex<Graph>> = LazyLock::new(Mutex::default);

fn graph() -> MutexGuard<'static, Graph> {
    GRAPH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `taken` is about to be taken at `site` while `held` are held: adds the edges, and reports those that
/// contradict earlier ones.
///
/// # Panics
/// If the environment asks for a panic instead of a report.
pub(super) fn check(held: &[(usize, Site)], taken: usize, site: Site) {
    let reports: Vec<String> = {
        let mut graph = graph();
        held.iter().filter_map(|&(lock, held_at)| graph.note(lock, held_at, taken, site)).collect()
    };
    reports.iter().for_each(|text| settings::report(text));
}

/// Removes a dropped lock.
pub(super) fn forget(lock: usize) {
    graph().forget(lock);
}

/// The locks that were taken together with `lock`.
#[cfg(test)]
pub(super) fn neighbours_of(lock: usize) -> Vec<usize> {
    let graph = graph();
    graph
        .0
        .get(&lock)
        .into_iter()
        .flat_map(|place| place.after.keys().chain(&place.before))
        .copied()
        .collect()
}

impl Graph {
    fn forget(&mut self, lock: usize) {
        let Some(place) = self.0.remove(&lock) else { return };
        for after in place.after.keys() {
            self.0.get_mut(after).map(|other| other.before.remove(&lock) | other.near.remove(&lock));
        }
        for before in &place.before {
            self.0.get_mut(before).map(|other| other.after.remove(&lock));
        }
    }

    /// Adds an edge; returns a report if the edge is new and contradicts earlier ones.
    fn note(&mut self, held: usize, held_at: Site, taken: usize, at: Site) -> Option<String> {
        if self.0.get(&held).is_some_and(|place| place.after.contains_key(&taken)) {
            return None;
        }
        let path = self.closes_a_cycle(held, taken).then(|| self.path(taken, held)).flatten();
        let text = path.map(|path| self.describe(&path, held_at, at));
        let edge = Taken { held_at, at, reported: text.is_some() };
        self.place(held).after.insert(taken, edge);
        self.place(taken).before.insert(held);
        if text.is_none() && self.level(held) == self.level(taken) {
            self.place(taken).near.insert(held);
        }
        text
    }

    fn place(&mut self, lock: usize) -> &mut SeenAt {
        self.0.entry(lock).or_default()
    }

    /// The locks that were taken while `lock` was held, along accepted edges.
    fn accepted_after(&self, lock: usize) -> impl Iterator<Item = usize> {
        let after = self.0.get(&lock).into_iter().flat_map(|place| &place.after);
        after.filter(|(_, taken)| !taken.reported).map(|(next, _)| *next)
    }

    /// A shortest path from `from` to `to`, where each lock was taken while the one before it was held.
    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came_from = HashMap::from([(from, from)]);
        let mut open = VecDeque::from([from]);
        while let Some(lock) = open.pop_front() {
            if lock == to {
                let mut path = vec![to];
                while path.last() != Some(&from) {
                    path.push(came_from[path.last()?]);
                }
                path.reverse();
                return Some(path);
            }
            for next in self.accepted_after(lock) {
                came_from.entry(next).or_insert_with(|| {
                    open.push_back(next);
                    lock
                });
            }
        }
        None
    }

    /// The text of a report; `path` leads from the lock that is being taken to one that is held.
    fn describe(&self, path: &[usize], held_at: Site, at: Site) -> String {
        let (taken, held) = (path[0], path[path.len() - 1]);
        let mut text = format!(
            "lock order: lock #{held} was taken at {held_at}, and while it is held, lock #{taken} at {at}. Before that, the \
             other way round:"
        );
        for step in path.windows(2) {
            let edge = self.0[&step[0]].after[&step[1]];
            let _ = write!(
                text,
                " #{} was taken at {}, and while it was held, #{} at {};",
                step[0], edge.held_at, step[1], edge.at
            );
        }
        text.push_str(
            " threads that do this at the same time wait for each other for ever, unless something else keeps them apart. Take these locks in one order everywhere, or \
             drop the first guard before the second lock",
        );
        text
    }
}
