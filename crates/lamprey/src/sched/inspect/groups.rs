//! Threads that were found, as text: those that wait for the same in the same call are listed once.

use super::found::Found;
use super::relations::{Blocker, Relations};
use super::row::{self, Others, ThreadRow};
use crate::sched::info::OneLine;
use crate::sched::reason::Wait;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Most groups that are printed.
const MOST: usize = 30;
/// Most names of a group that are printed, beside the first one's.
const MOST_NAMES: usize = 7;

/// Threads, those alike together, in the order in which they were found.
pub(crate) struct Groups {
    groups: Vec<Group>,
    /// Those in cycles, each of which waits for the next one of its cycle.
    cycles: Vec<Vec<ThreadRow>>,
    /// The number of all.
    threads: usize,
}

/// Threads that wait for the same in the same call.
struct Group {
    first: ThreadRow,
    others: usize,
    /// All wait for the same object.
    is_on_one: bool,
    /// The names of some others.
    names: Vec<Arc<str>>,
    /// How long the one has waited that has waited for the longest time.
    longest: Option<Duration>,
}

impl Group {
    fn of(row: ThreadRow) -> Self {
        Self {
            others: row.count() - 1,
            longest: row.waiting(),
            first: row,
            is_on_one: true,
            names: Vec::new(),
        }
    }

    fn add(&mut self, row: &ThreadRow) {
        self.others += row.count();
        self.is_on_one &= self.first.waits_for_the_same(row);
        self.longest = self.longest.max(row.waiting());
        if let Some(name) = row.thread().name().filter(|name| self.first.thread().name() != Some(name))
            && self.names.len() < MOST_NAMES
            && !self.names.iter().any(|other| **other == *name)
        {
            self.names.push(name.into());
        }
    }
}

/// What the threads of a group have in common.
#[derive(PartialEq, Eq, Hash)]
struct Place {
    spawn_site: Option<&'static Location<'static>>,
    wait: Option<Wait>,
    stack: Vec<usize>,
    future: Option<&'static str>,
    /// Where what they wait for was made.
    made: Vec<Option<&'static Location<'static>>>,
    /// Those that hold the lock.
    holders: Vec<usize>,
}

impl Place {
    fn of(thread: &Found, blockers: &[Blocker]) -> Self {
        let holders = blockers.iter().filter(|blocker| blocker.site.is_some());
        Self {
            spawn_site: thread.spawn_site,
            wait: thread.wait,
            stack: thread.stack.clone(),
            future: thread.future,
            made: thread.objects.sites(),
            holders: holders.map(|holder| holder.thread).collect(),
        }
    }
}

impl Groups {
    /// Groups `found`.
    pub(crate) fn of(found: Vec<Found>) -> Self {
        let relations = Relations::of(&found);
        let places: Vec<_> =
            found.iter().enumerate().map(|(at, thread)| Place::of(thread, relations.blockers(at))).collect();
        let rows = row::rows(found);
        let cycle = |cycle: Vec<usize>| cycle.into_iter().map(|at| rows[at].clone()).collect();
        let cycles = relations.cycles().into_iter().map(cycle).collect();
        let mut this = Self { groups: Vec::new(), cycles, threads: 0 };
        let mut like: HashMap<Place, usize> = HashMap::new();
        for (row, place) in rows.into_iter().zip(places) {
            this.threads += row.count();
            let group = *like.entry(place).or_insert(this.groups.len());
            match this.groups.get_mut(group) {
                Some(group) => group.add(&row),
                None => this.groups.push(Group::of(row)),
            }
        }
        this
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}

impl fmt::Display for Groups {
    /// Each group begins a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Group { first, others, is_on_one, names, longest } in self.groups.iter().take(MOST) {
            write!(f, "\n{}{}", first.head_of(*is_on_one), Others(*others))?;
            if let Some(longest) =
                longest.filter(|longest| first.waiting().is_some_and(|first| first < *longest))
            {
                write!(f, ", for {longest:.1?} at most")?;
            }
            for (n, name) in names.iter().enumerate() {
                let (before, name) = (if n == 0 { ": " } else { ", " }, OneLine(name));
                write!(f, "{before}`{name}`")?;
            }
            if !names.is_empty() && names.len() < *others {
                f.write_str(", ..")?;
            }
            write!(f, "\n{}", first.calls_of_program())?;
        }
        match self.groups.len().saturating_sub(MOST) {
            0 => {}
            more => write!(f, "\n(and {more} more places where threads wait)")?,
        }
        self.cycles.iter().take(MOST).try_for_each(|cycle| write!(f, "\n{}", in_a_ring(cycle)))
    }
}

/// What is said of so many threads that wait for each other.
pub(super) fn ring_of(threads: usize) -> &'static str {
    if threads == 1 { "this thread waits for itself:" } else { "these threads wait for each other:" }
}

/// Who waits for whom, of threads that wait for each other.
fn in_a_ring(cycle: &[ThreadRow]) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        f.write_str(ring_of(cycle.len()))?;
        for row in cycle {
            let wait = row.wait().map_or_else(String::new, |wait| wait.to_string());
            write!(f, "\n  {} waits: {wait}", row.thread())?;
            row.blockers().iter().try_for_each(|blocker| write!(f, "; {blocker}"))?;
        }
        Ok(())
    })
}
