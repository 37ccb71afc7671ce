//! Which threads a test is stuck in: what is printed when its time is over.
//!
//! How long a thread has waited is not known, because a clock that is read at every block would cost more than the block. So
//! the threads are looked at twice, and those that are where they were before are marked.

use crate::sched::inspect::found::Found;
use crate::sched::shared::Shared;
use crate::thread::Survivor;
use std::fmt;
use std::time::{Duration, Instant};

/// Most groups of threads that are printed.
const MOST: usize = 30;

/// The threads of a runtime, at some time.
pub(super) struct Sight {
    found: Vec<Found>,
    at: Instant,
}

impl Sight {
    /// Looks at the threads. Takes up to some seconds where a worker does not answer.
    pub(super) fn of(shared: &Shared) -> Self {
        let at = Instant::now();
        Self { found: shared.look(), at }
    }

    /// What is to be printed, if these are the threads now and `before` those of an earlier time.
    pub(super) fn compared(self, before: Option<&Sight>) -> Stuck {
        let mut stuck = Stuck { groups: Vec::new(), threads: self.found.len() };
        for thread in self.found {
            let stays = before.filter(|before| before.found.iter().any(|then| is_same_place(then, &thread)));
            let since = stays.map(|before| self.at.saturating_duration_since(before.at));
            let like = stuck.groups.iter_mut().find(|group| group.since == since && group.is_like(&thread));
            match like {
                Some(group) => group.others += 1,
                None => stuck.groups.push(Group {
                    stack: thread.stack.clone(),
                    first: Survivor::new(thread),
                    since,
                    others: 0,
                }),
            }
        }
        stuck
    }
}

/// A thread that waits in the same call as before.
fn is_same_place(then: &Found, now: &Found) -> bool {
    then.id == now.id && then.wait.is_some() && then.wait == now.wait && then.stack == now.stack
}

/// Threads that have not ended.
pub(super) struct Stuck {
    groups: Vec<Group>,
    threads: usize,
}

/// Threads that wait for the same in the same call.
struct Group {
    first: Survivor,
    stack: Vec<usize>,
    /// How long ago they were seen there before.
    since: Option<Duration>,
    others: usize,
}

impl Group {
    fn is_like(&self, thread: &Found) -> bool {
        let site = |site: Option<&std::panic::Location<'_>>| site.map(ToString::to_string);
        self.first.wait() == thread.wait
            && self.stack == thread.stack
            && site(self.first.thread().spawn_site()) == site(thread.spawn_site)
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            0 => f.write_str("none of its threads has started, or all have ended since")?,
            1 => f.write_str("this thread has not ended:")?,
            threads => write!(f, "these {threads} threads have not ended:")?,
        }
        for Group { first, since, others, .. } in self.groups.iter().take(MOST) {
            write!(f, "\n{}", first.head())?;
            if let Some(since) = since {
                write!(f, ", as it did {since:.1?} before")?;
            }
            match others {
                0 => {}
                1 => f.write_str("; and another one in the same way")?,
                others => write!(f, "; and {others} others in the same way")?,
            }
            write!(f, "\n{}", first.stack())?;
        }
        match self.groups.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, "\n(and {more} more places where threads wait)"),
        }
    }
}
