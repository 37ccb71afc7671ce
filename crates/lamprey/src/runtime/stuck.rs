//! Which threads a test is stuck in: what is printed when its time is over.
//!
//! How long a thread has waited is not known, because a clock that is read at every block would cost more than the block. So
//! the threads are looked at twice, and those that are where they were before are marked.

use crate::sched::Wait;
use crate::sched::inspect::found::Found;
use crate::sched::shared::Shared;
use crate::thread::Survivor;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
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
    pub(super) fn compared(self, before: &Sight) -> Stuck {
        let then: HashMap<u64, &Found> = before.found.iter().map(|thread| (thread.id, thread)).collect();
        let between = self.at.saturating_duration_since(before.at);
        let mut stuck = Stuck { groups: Vec::new(), threads: self.found.len() };
        let mut like: HashMap<Place, usize> = HashMap::new();
        for thread in self.found {
            let stays = then.get(&thread.id).is_some_and(|then| is_same_place(then, &thread));
            let since = stays.then_some(between);
            let place = (thread.spawn_site, thread.wait, thread.stack.clone(), stays);
            let group = *like.entry(place).or_insert(stuck.groups.len());
            match stuck.groups.get_mut(group) {
                Some(group) => group.others += 1,
                None => stuck.groups.push(Group { first: Survivor::new(thread), since, others: 0 }),
            }
        }
        stuck
    }
}

/// What the threads of a group have in common.
type Place = (Option<&'static Location<'static>>, Option<Wait>, Vec<usize>, bool);

/// A thread that waits in the same call as before.
fn is_same_place(then: &Found, now: &Found) -> bool {
    then.wait.is_some() && then.wait == now.wait && then.stack == now.stack
}

/// Threads that have not ended.
pub(super) struct Stuck {
    groups: Vec<Group>,
    threads: usize,
}

/// Threads that wait for the same in the same call.
struct Group {
    first: Survivor,
    /// How long ago they were seen there before.
    since: Option<Duration>,
    others: usize,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            0 => f.write_str("none of its threads has started, or all have ended since")?,
            1 => f.write_str("this thread has not ended:")?,
            threads => write!(f, "these {threads} threads have not ended:")?,
        }
        for Group { first, since, others } in self.groups.iter().take(MOST) {
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
