//! Threads that wait for the same in the same way, counted.

use super::look::{Kind, Look, State};
use super::rows::{frames, nanoseconds};

use crate::inspect::{Blocker, ThreadRow};
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::time::Duration;

/// Most groups that are told.
const MOST: usize = 1000;
/// Most names of a group.
const NAMES: usize = 8;

/// Threads that are alike.
pub(super) struct Group {
    key: u64,
    pub(super) kind: Kind,
    pub(super) state: State,
    site: Option<&'static Location<'static>>,
    names: Vec<Box<str>>,
    pub(super) count: usize,
    oldest: Option<Duration>,
    workers: BTreeSet<usize>,
    /// One of them.
    first: ThreadRow,
    /// All wait for the same object.
    is_on_one: bool,
}

/// The groups of a look that is under way.
pub(super) struct Groups {
    /// Threads with different stacks are not alike.
    stacks: bool,
    groups: HashMap<u64, Group>,
}

impl Groups {
    pub(super) fn new(stacks: bool) -> Self {
        Self { stacks, groups: HashMap::new() }
    }

    /// Adds a thread to its group, whose key it returns: a hash, which is the same in the next look.
    pub(super) fn add(&mut self, kind: Kind, state: State, row: &ThreadRow) -> u64 {
        let key = self.key(kind, state, row);
        let group = match self.groups.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Group {
                key,
                kind,
                state,
                site: row.thread().spawn_site(),
                names: Vec::new(),
                count: 0,
                oldest: None,
                workers: BTreeSet::new(),
                first: row.clone(),
                is_on_one: true,
            }),
        };
        group.is_on_one &= group.first.waits_for_the_same(row);
        group.count += row.count();
        group.oldest = group.oldest.max(row.waiting());
        group.workers.extend(row.thread().worker());
        if let Some(name) = row.thread().name()
            && group.names.len() < NAMES
            && !group.names.iter().any(|one| **one == *name)
        {
            group.names.push(name.into());
        }
        key
    }

    fn key(&self, kind: Kind, state: State, row: &ThreadRow) -> u64 {
        let mut hasher = DefaultHasher::new();
        (kind, state, row.thread().spawn_site(), row.sites_of_on()).hash(&mut hasher);
        if kind == Kind::Stackless {
            row.thread().name().hash(&mut hasher);
        }
        for holder in row.blockers().iter().filter(|blocker| blocker.lock_site().is_some()) {
            holder.thread().id().hash(&mut hasher);
        }
        if self.stacks {
            row.stack().calls().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The largest first.
    pub(super) fn sorted(self) -> Vec<Group> {
        let mut groups: Vec<_> = self.groups.into_values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.key));
        groups
    }
}

impl Group {
    fn json(&self) -> Value {
        let Self { key, kind, state, site, names, count, oldest, workers, first, is_on_one } = self;
        json!({
            "key": key_text(*key),
            "kind": kind.text(),
            "state": state.text(),
            "reason": reason(*state),
            "site": site.map(|site| site.to_string()),
            "names": names,
            "count": count,
            "oldest_ns": oldest.map(nanoseconds),
            "workers": workers,
            "on": first.text_of_on(*is_on_one),
            "blockers": first.blockers().iter().map(Blocker::to_string).collect::<Vec<_>>(),
            "stack": frames(first, false),
        })
    }
}

pub(super) fn key_text(key: u64) -> String {
    format!("{key:016x}")
}

/// The reason for which a thread waits; `None` if it does not wait.
pub(super) fn reason(state: State) -> Option<String> {
    match state {
        State::Waiting(wait) => Some(wait.to_string()),
        State::Running | State::Ready => None,
    }
}

/// The answer to `/api/v1/groups`.
pub(super) fn json(look: &Look) -> Value {
    let silent = look.silent.iter().map(|(runtime, worker)| match look.runtimes.len() {
        1 => format!("worker {worker} does not answer, so its threads are not listed"),
        _ => format!("worker {worker} of runtime {runtime} does not answer, so its threads are not listed"),
    });
    let unstarted = match look.unstarted() {
        0 => None,
        1 => Some("1 host has not started, so it is not listed".to_owned()),
        hosts => Some(format!("{hosts} hosts have not started, so they are not listed")),
    };
    json!({
        "threads": look.threads(),
        "took_ns": nanoseconds(look.took),
        "groups": look.groups.iter().take(MOST).map(Group::json).collect::<Vec<_>>(),
        "more": look.groups.len().saturating_sub(MOST),
        "missing": silent.chain(unstarted).collect::<Vec<_>>(),
    })
}
