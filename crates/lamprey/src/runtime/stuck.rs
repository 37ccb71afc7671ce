//! Which threads a test is stuck in: what is printed when its time is over.
//!
//! How long a thread has waited is not known, because a clock that is read at every block would cost more than the block. So
//! the threads are looked at twice, and those that are where they were before are marked.

use crate::sched::inspect::found::Found;
use crate::sched::inspect::groups::Groups;
use crate::sched::shared::Shared;
use std::collections::HashMap;
use std::fmt;
use std::time::Instant;

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
        Stuck(Groups::of(self.found.into_iter().map(|thread| {
            let stays = then.get(&thread.id).is_some_and(|then| is_same_place(then, &thread));
            (thread, stays.then_some(between))
        })))
    }
}

/// A thread that waits in the same call as before.
fn is_same_place(then: &Found, now: &Found) -> bool {
    then.wait.is_some() && then.wait == now.wait && then.stack == now.stack && then.future == now.future
}

/// Threads that have not ended.
pub(super) struct Stuck(Groups);

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.threads() {
            0 => f.write_str("none of its threads has started, or all have ended since"),
            1 => write!(f, "this thread has not ended:{}", self.0),
            threads => write!(f, "these {threads} threads have not ended:{}", self.0),
        }
    }
}
