//! The threads that outlive a shutdown's time limit.

use super::row::ThreadRow;
use super::stack_trace::Stack;
use crate::sched::info::ThreadInfo;
use crate::sched::reason::Wait;
use std::fmt;

/// A thread that did not end within the time limit of [`Runtime::shutdown`](crate::Runtime::shutdown).
#[doc(alias = "leak")]
#[derive(Debug)]
pub struct Survivor(ThreadRow);

impl Survivor {
    pub(crate) fn new(row: ThreadRow) -> Self {
        Self(row)
    }

    /// The thread; see [`ThreadRow::thread`].
    pub fn thread(&self) -> &ThreadInfo {
        self.0.thread()
    }

    /// What it waits for; see [`ThreadRow::wait`].
    pub fn wait(&self) -> Option<Wait> {
        self.0.wait()
    }

    /// Its stack trace; see [`ThreadRow::stack`].
    pub fn stack(&self) -> &Stack {
        self.0.stack()
    }

    /// All that is known of it.
    pub fn row(&self) -> &ThreadRow {
        &self.0
    }
}

impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
