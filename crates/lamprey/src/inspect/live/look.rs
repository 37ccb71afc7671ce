//! One look at all threads of the process.

use super::groups::{Group, Groups};
use crate::sched::info::ThreadKind;
use crate::sched::inspect::found::Found;
use crate::sched::inspect::row::{self, ThreadRow};
use crate::sched::inspect::runtimes;
use crate::sched::reason::Wait;
use crate::sched::shared::Shared;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most threads that are kept; of those beyond them only the groups are.
const MOST: usize = 200_000;

/// The threads as they were found.
pub(super) struct Look {
    pub(super) took: Duration,
    pub(super) runtimes: Vec<Arc<Shared>>,
    /// Some of the threads, or all.
    pub(super) rows: Vec<Row>,
    /// All of them, the largest first.
    pub(super) groups: Vec<Group>,
    /// Workers that do not answer: runtime, and worker.
    pub(super) silent: Vec<(usize, usize)>,
    /// The number of hosts that have not started, which are in none of these: of each worker of each runtime.
    pub(super) unstarted: Vec<Vec<usize>>,
}

/// A thread, or stackless parasites of a worker that wait alike.
pub(super) struct Row {
    pub(super) runtime: usize,
    pub(super) kind: Kind,
    pub(super) state: State,
    pub(super) group: u64,
    /// What it waits for, by its address; 0 if that is not known.
    pub(super) on: usize,
    /// Its wait ends at a time limit.
    pub(super) is_limited: bool,
    pub(super) row: ThreadRow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Host,
    Stackless,
    Stackful,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Host, Self::Stackless, Self::Stackful];

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Stackless => "parasite",
            Self::Stackful => "stackful parasite",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum State {
    Running,
    Ready,
    Waiting(Wait),
}

impl State {
    pub(super) const TEXTS: [&'static str; 3] = ["running", "ready", "waiting"];

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting(_) => "waiting",
        }
    }
}

/// What a [`ThreadRow`] does not tell.
struct Mark {
    runtime: usize,
    is_stackless: bool,
    runs: bool,
    on: usize,
    is_limited: bool,
}

impl Look {
    pub(super) fn take(stacks: bool) -> Self {
        Self::by(|shared| if stacks { shared.look() } else { shared.look_at_running() }, stacks)
    }

    /// A new look, with the stack of the thread `id`.
    pub(super) fn at(id: u64) -> Self {
        Self::by(|shared| shared.look_at(id), false)
    }

    fn by(look_at: impl Fn(&Shared) -> Vec<Found>, stacks: bool) -> Self {
        let start = Instant::now();
        let runtimes = runtimes::all();
        let unstarted = runtimes.iter().map(|shared| unstarted(shared)).collect();
        let (mut found, mut marks) = (Vec::new(), Vec::new());
        for (runtime, shared) in runtimes.iter().enumerate() {
            let its = look_at(shared);
            marks.extend(its.iter().map(|thread| Mark {
                runtime,
                is_stackless: thread.future.is_some(),
                runs: thread.held.is_some(),
                on: thread.on,
                is_limited: thread.is_limited,
            }));
            found.extend(its);
        }
        let (mut rows, mut silent, mut groups) = (Vec::new(), Vec::new(), Groups::new(stacks));
        for (mark, row) in marks.into_iter().zip(row::rows(found)) {
            let Mark { runtime, is_stackless, runs, on, is_limited } = mark;
            let kind = match row.thread().kind() {
                ThreadKind::Os => {
                    silent.push((runtime, row.thread().worker().unwrap_or_default()));
                    continue;
                }
                ThreadKind::Host => Kind::Host,
                ThreadKind::Parasite if is_stackless => Kind::Stackless,
                ThreadKind::Parasite => Kind::Stackful,
            };
            let state = row.wait().map_or(if runs { State::Running } else { State::Ready }, State::Waiting);
            let group = groups.add(kind, state, &row);
            if rows.len() < MOST {
                rows.push(Row { runtime, kind, state, group, on, is_limited, row });
            }
        }
        Self { took: start.elapsed(), runtimes, rows, groups: groups.sorted(), silent, unstarted }
    }

    /// The number of threads that have started.
    pub(super) fn threads(&self) -> usize {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// The number of hosts that have not started.
    pub(super) fn unstarted(&self) -> usize {
        self.unstarted.iter().flatten().sum()
    }
}

/// How many hosts wait at each worker for their start.
fn unstarted(shared: &Shared) -> Vec<usize> {
    let queues = shared.remotes().iter().map(|remote| remote.unstarted.look());
    queues.map(|queue| queue.tail.wrapping_sub(queue.head)).collect()
}
