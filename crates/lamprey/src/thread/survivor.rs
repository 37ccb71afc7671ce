//! Threads that are left when a runtime has been shut down and does not end.

use super::info::{ThreadInfo, ThreadKind};
use crate::sched::Wait;
use crate::sched::inspect::found::Found;
use crate::sched::inspect::stack_trace::Stack;
use crate::sched::thread::Kind;
use std::fmt;

/// A thread that did not end in time: see [`Runtime::shutdown`](crate::Runtime::shutdown).
#[doc(alias = "leak")]
#[derive(Debug)]
pub struct Survivor {
    thread: ThreadInfo,
    wait: Option<Wait>,
    stack: Stack,
}

impl Survivor {
    pub(crate) fn new(found: Found) -> Self {
        let kind = match found.kind {
            Kind::Host => ThreadKind::Host,
            Kind::Parasite => ThreadKind::Parasite,
            Kind::Root | Kind::Os => ThreadKind::Os,
        };
        let thread = ThreadInfo::new(found.id, found.name, kind, Some(found.worker), found.spawn_site);
        Self { thread, wait: found.wait, stack: Stack::new(found.stack, 0) }
    }

    /// Who it is. Of kind [`Os`](ThreadKind::Os), and without a name: not a thread of the program's but a
    /// worker, which does not answer and so does not say which threads it has. Its policy or an event source
    /// computes, or the kernel has not let it run for seconds.
    pub fn thread(&self) -> &ThreadInfo {
        &self.thread
    }

    /// What it waits for; `None` if it computes, or waits for its worker, which computes for another.
    pub fn wait(&self) -> Option<Wait> {
        self.wait
    }

    /// Where it is, from its innermost call on: at most 64 calls, and what 64 KiB of its stack tell. Empty if
    /// that could not be found out: of those that wait behind a thread that computes, and where the system
    /// has no `/proc` or forbids `process_vm_readv`.
    ///
    /// A thread that computes is interrupted for some microseconds, by the signal SIGURG, wherever it is;
    /// what it does is not disturbed. (A system call that does not restart by itself, such as `nanosleep`,
    /// says that it was interrupted.) One that is just on its way into or out of a function, or from
    /// one thread to the next, may show fewer calls, or once in a million those of the thread before.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }
}

impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.thread.kind() {
            ThreadKind::Os => {
                let worker = self.thread.worker().unwrap_or_default();
                return write!(f, "worker {worker}, which does not answer, and its threads");
            }
            ThreadKind::Parasite => "parasite",
            ThreadKind::Host => "host",
        };
        write!(f, "{kind} {}", self.thread.id())?;
        if let Some(name) = self.thread.name() {
            write!(f, " `{name}`")?;
        }
        if let Some(worker) = self.thread.worker() {
            write!(f, " of worker {worker}")?;
        }
        if let Some(site) = self.thread.spawn_site() {
            write!(f, ", spawned at {site}")?;
        }
        match self.wait {
            Some(wait) => write!(f, ", waits: {wait}")?,
            None if self.stack.is_empty() => f.write_str(", waits for its worker")?,
            None => f.write_str(", runs")?,
        }
        if self.stack.is_empty() { Ok(()) } else { write!(f, "\n{}", self.stack) }
    }
}
