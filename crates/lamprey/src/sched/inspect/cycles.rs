//! Threads that wait for each other while the rest of the program goes on: locks in two orders, joins in a ring.
//!
//! # When a cycle is certain
//! Workers answer one after the other, so what two of them say may never have been so at one moment. Hence two looks. In the
//! second, a thread is where it was in the first if it waits for the same since the same time. Its wait had lasted for longer than
//! [`SETTLED`] when it was first seen, so it is the same wait, which has lasted from one look to the next: an earlier wait cannot
//! have ended, and another begun, at the same reading of the coarse clock ([`Rounds`](crate::sched::worker::rounds::Rounds), which
//! goes on whenever a worker has answered). Between the looks all these waits were at once.

use super::found::Found;
use super::groups::ring_of;
#[cfg(debug_assertions)]
use super::holdings;
use super::object::Object;
use super::possible;
use super::relations::Relations;
use super::row::{ThreadRow, rows};
#[cfg(debug_assertions)]
use super::runtimes;
use crate::sched::info::ThreadInfo;
use crate::sched::shared::Shared;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a wait must have lasted: some units of the coarse clock.
const SETTLED: Duration = Duration::from_millis(10);

/// Threads that wait for each other. `Display` says who waits for whom, and shows where.
#[derive(Debug, Clone)]
pub struct Stuck {
    threads: Vec<ThreadRow>,
    /// For threads that are only possibly stuck: for each, some of those that may have an end of what it waits for, one more than
    /// are named if there are more.
    ends: Option<Vec<Vec<ThreadInfo>>>,
}

impl Stuck {
    /// The threads. If it [is certain](Self::is_certain): a ring, in which each waits for the next one, and the last one for the first.
    pub fn threads(&self) -> &[ThreadRow] {
        &self.threads
    }

    /// True if they wait for ever, unless one of them is cancelled. Otherwise they may do so, for it is not known who has the ends of
    /// channels: see [`stuck`](crate::inspect::stuck).
    pub fn is_certain(&self) -> bool {
        self.ends.is_none()
    }

    /// The threads that are shown, each with the number of those like it. In a ring that is each one.
    fn kinds(&self) -> Vec<(usize, usize)> {
        let mut kinds: Vec<(usize, usize)> = Vec::new();
        let mut at = HashMap::<_, usize>::new();
        for (place, row) in self.threads.iter().enumerate() {
            let on: Vec<_> = row.on().iter().map(Object::number).collect();
            let key = (row.thread().spawn_site(), row.wait(), on, row.stack().calls());
            match at.get(&key).filter(|_| !self.is_certain()) {
                Some(kind) => kinds[*kind].1 += 1,
                None => {
                    at.insert(key, kinds.len());
                    kinds.push((place, 1));
                }
            }
        }
        kinds
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.ends {
            None => ring_of(self.threads.len()),
            Some(_) => "these threads may wait for each other for ever (no thread that goes on is seen to have an end of their channels):",
        })?;
        for (place, count) in self.kinds() {
            let row = &self.threads[place];
            write!(f, "\n{}", row.head())?;
            if let Some(ends) = self.ends.as_ref().filter(|_| !row.on().is_empty()) {
                for (n, thread) in ends[place].iter().take(MOST_ENDS).enumerate() {
                    let before = if n == 0 { ", seen on the stack of " } else { ", " };
                    write!(f, "{before}{thread}")?;
                }
                if ends[place].len() > MOST_ENDS {
                    f.write_str(", ..")?;
                }
            }
            if count > 1 {
                write!(f, "; and {} more that wait like it", count - 1)?;
            }
            write!(f, "\n{}", row.calls_of_program())?;
        }
        Ok(())
    }
}

/// Most threads that are named for a channel.
const MOST_ENDS: usize = 4;

/// A thread's wait: its address, what it waits for, and since when.
type Mark = (usize, usize, u32);

fn mark(thread: &Found) -> Mark {
    (thread.address, thread.on, thread.since)
}

/// The threads of these runtimes that are stuck: rings, and then those that are possibly stuck.
pub(crate) fn find_all(all: &[Arc<Shared>]) -> Vec<Stuck> {
    let mut stuck = find(all);
    let id = |row: &ThreadRow| row.thread().id();
    let in_rings: HashSet<u64> = stuck.iter().flat_map(|ring| ring.threads.iter().map(id)).collect();
    let is_more = |group: &Stuck| group.threads.iter().any(|row| !in_rings.contains(&id(row)));
    stuck.extend(find_possible(all).into_iter().filter(is_more));
    stuck
}

/// The rings of threads of these runtimes. Takes two looks if the first one finds something.
fn find(all: &[Arc<Shared>]) -> Vec<Stuck> {
    let bare: Vec<_> = all.iter().flat_map(|shared| shared.look_without_stacks()).collect();
    if Relations::of(&bare).cycles().is_empty() {
        return Vec::new();
    }
    let look = || all.iter().flat_map(|shared| shared.look()).collect::<Vec<_>>();
    std::thread::sleep(SETTLED * 2);
    let before = settled(&look());
    let found = look();
    let same: Vec<bool> = found.iter().map(|thread| before.contains(&mark(thread))).collect();
    let mut cycles = Relations::of(&found).cycles();
    cycles.retain(|cycle| cycle.iter().all(|at| same[*at]));
    let rows = rows(found);
    let stuck = |cycle: Vec<usize>| Stuck {
        threads: cycle.into_iter().map(|at| rows[at].clone()).collect(),
        ends: None,
    };
    cycles.into_iter().map(stuck).collect()
}

/// The waits that have lasted for long enough to be the same at the next look.
fn settled(found: &[Found]) -> HashSet<Mark> {
    let is_settled = |thread: &&Found| thread.waiting.is_some_and(|waiting| waiting > SETTLED);
    found.iter().filter(is_settled).map(mark).collect()
}

/// The threads of these runtimes that may wait for each other for ever through channels. Takes two looks if some have waited for long.
fn find_possible(all: &[Arc<Shared>]) -> Vec<Stuck> {
    let bare: Vec<_> = all.iter().flat_map(|shared| shared.look_without_stacks()).collect();
    let (wanted, before) = (possible::wanted(&bare), settled(&bare));
    if wanted.is_empty() {
        return Vec::new();
    }
    let found: Vec<_> = all.iter().flat_map(|shared| shared.look_for(wanted.clone())).collect();
    let same: Vec<bool> = found.iter().map(|thread| before.contains(&mark(thread))).collect();
    let groups = possible::find(&found, &same);
    let rows = rows(found);
    let named =
        |ends: &[usize]| ends.iter().take(MOST_ENDS + 1).map(|at| rows[*at].thread().clone()).collect();
    let stuck = |group: Vec<possible::Waiting>| {
        let ends = group.iter().map(|(_, ends)| named(ends));
        Stuck { ends: Some(ends.collect()), threads: group.iter().map(|(at, _)| rows[*at].clone()).collect() }
    };
    groups.into_iter().map(stuck).collect()
}

/// Looks for such threads now and then, in programs with debug assertions: there it is known who holds a lock.
#[cfg(debug_assertions)]
pub(in crate::sched) struct Watch {
    due: std::time::Instant,
    pause: Duration,
    /// The threads of rings that have been reported.
    named: HashSet<u64>,
}

#[cfg(debug_assertions)]
impl Watch {
    pub(in crate::sched) fn new() -> Self {
        Self { due: std::time::Instant::now() + FIRST, pause: FIRST, named: HashSet::new() }
    }

    /// Looks, if it is time to. The first runtime of the process looks at all.
    pub(in crate::sched) fn look(&mut self, shared: &Arc<Shared>) {
        let now = std::time::Instant::now();
        if now < self.due || !shared.options.deadlocks || shared.is_stopping() || !holdings::are_known() {
            return;
        }
        self.pause = (self.pause * 2).min(LAST);
        self.due = now + self.pause;
        let all = runtimes::all();
        if all.first().is_none_or(|first| !Arc::ptr_eq(first, shared)) {
            return;
        }
        for stuck in find(&all) {
            let ids = || stuck.threads.iter().map(|row| row.thread().id());
            if !ids().any(|id| self.named.contains(&id)) {
                self.named.extend(ids());
                crate::bug::say!("deadlock: {stuck}");
            }
        }
    }
}

/// From the start of the runtime to the first look. Each further one comes after twice the time.
#[cfg(debug_assertions)]
const FIRST: Duration = Duration::from_secs(1);
/// The longest such time.
#[cfg(debug_assertions)]
const LAST: Duration = Duration::from_secs(16);
