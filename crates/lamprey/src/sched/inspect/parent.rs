//! The thread that has spawned another one, as the program is told of it.

use crate::sched::info::ThreadInfo;
use std::fmt;

/// The thread that has spawned another one.
#[derive(Debug, Clone)]
pub struct Parent {
    pub(super) id: u64,
    pub(super) thread: Option<ThreadInfo>,
}

impl Parent {
    /// Its number ([`ThreadInfo::id`]).
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The thread; `None` if it has ended.
    pub fn thread(&self) -> Option<&ThreadInfo> {
        self.thread.as_ref()
    }
}

impl fmt::Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.thread {
            Some(thread) => thread.fmt(f),
            None => write!(f, "thread {}, which has ended", self.id),
        }
    }
}
