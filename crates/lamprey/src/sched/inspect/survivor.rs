//! The threads that outlive a shutdown's time limit.

use super::found::Found;
use super::stack_trace::Stack;
use crate::sched::info::{OneLine, ThreadInfo, ThreadKind};
use crate::sched::reason::Wait;
use crate::sched::thread::Kind;
use std::fmt;

/// A thread that did not end within the time limit of [`Runtime::shutdown`](crate::Runtime::shutdown).
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
        let name = found.name.or_else(|| found.future.map(Into::into));
        let thread = ThreadInfo::new(found.id, name, kind, Some(found.worker), found.spawn_site);
        Self { thread, wait: found.wait, stack: Stack::new(found.stack, 0) }
    }

    /// The thread. Kind [`Os`](ThreadKind::Os) without a name stands for a worker that does not respond, so
    /// that its threads are unknown: its policy or an event source is computing, or the kernel has not
    /// scheduled it for seconds.
    pub fn thread(&self) -> &ThreadInfo {
        &self.thread
    }

    /// What it waits for; `None` if it is running, or is ready but its worker runs another thread.
    pub fn wait(&self) -> Option<Wait> {
        self.wait
    }

    /// Its stack trace, innermost call first: at most 64 calls, from at most 64 KiB of its stack. Empty if it
    /// cannot be taken: for threads that wait behind a running thread, for all but 10,000 of a worker, and where the
    /// system has no `/proc` or forbids `process_vm_readv`.
    ///
    /// A running thread is interrupted for some microseconds by the signal SIGURG and then continues. (A
    /// system call that does not restart by itself, such as `nanosleep`, returns `EINTR`.) A trace that is
    /// taken in a function's prologue or epilogue, or during a thread switch, may show fewer calls, or once
    /// in a million those of the previous thread.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }
}

impl Survivor {
    /// Who it is and what it does, without its stack.
    pub(crate) fn head(&self) -> impl fmt::Display {
        fmt::from_fn(|f| self.write_head(f))
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            write!(f, " `{}`", OneLine(name))?;
        }
        if let Some(worker) = self.thread.worker() {
            write!(f, " of worker {worker}")?;
        }
        if let Some(site) = self.thread.spawn_site() {
            write!(f, ", spawned at {site}")?;
        }
        match self.wait {
            Some(wait) => write!(f, ", waits: {wait}"),
            None if self.stack.is_empty() => f.write_str(", waits for its worker"),
            None => f.write_str(", runs"),
        }
    }
}

impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        if self.stack.is_empty() { Ok(()) } else { write!(f, "\n{}", self.stack) }
    }
}
