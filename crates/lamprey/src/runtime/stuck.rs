//! Which threads a test is stuck in: what is printed when its time is over.

use crate::sched::inspect::groups::Groups;
use crate::sched::shared::Shared;
use std::fmt;

/// Threads that have not ended.
pub(super) struct Stuck(Groups);

impl Stuck {
    /// Those of a runtime. Takes up to some seconds where a worker does not answer.
    pub(super) fn of(shared: &Shared) -> Self {
        Self(Groups::of(shared.look()))
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.threads() {
            0 => f.write_str("none of its threads has started, or all have ended since"),
            1 => write!(f, "this thread has not ended:{}", self.0),
            threads => write!(f, "these {threads} threads have not ended:{}", self.0),
        }
    }
}
