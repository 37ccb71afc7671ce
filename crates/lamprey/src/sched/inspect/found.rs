//! A thread found by an inspection of a worker, and what it runs.

use crate::sched::info::OneLine;
use crate::sched::reason::Wait;
use crate::sched::thread::{Kind, Thread, ThreadState};
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A thread that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    /// `Root`: not a thread of the program, but a worker that does not say which thread it runs.
    pub(crate) kind: Kind,
    pub(crate) worker: usize,
    pub(crate) spawn_site: Option<&'static Location<'static>>,
    /// `None`: it runs, or is ready.
    pub(crate) wait: Option<Wait>,
    /// The parasite that it polls.
    pub(crate) polls: Option<Polled>,
    /// The type of its future: of a stackless parasite.
    pub(crate) future: Option<&'static str>,
    /// How many there are: of stackless parasites that wait alike, one is listed for all.
    pub(crate) count: usize,
    /// An address within each call, the innermost first.
    pub(crate) stack: Vec<usize>,
}

/// A stackless parasite that is polled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Polled {
    /// Its future's type.
    pub(crate) name: &'static str,
    /// The name that it was given.
    pub(super) given: Short,
    /// Known with debug assertions only: it costs eight bytes for each parasite.
    pub(super) spawn_site: Option<&'static Location<'static>>,
}

/// The beginning of a name, copied: a signal handler must not count references.
#[derive(Debug, Clone, Copy)]
pub(super) struct Short {
    bytes: [u8; NAME],
    length: usize,
}

/// Bytes of a name that are copied.
const NAME: usize = 64;

impl Short {
    pub(super) fn of(text: &str) -> Self {
        let length = text.len().min(NAME);
        let mut bytes = [0; NAME];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { bytes, length }
    }

    /// Empty if there is no name.
    pub(super) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes[..self.length])
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Parasite => "parasite",
            _ => "host",
        };
        if let Some(polled) = self.polls {
            write!(f, "{polled}, which runs on ")?;
        }
        let Some(site) = self.spawn_site else { return f.write_str("a host of the runtime's own") };
        write!(f, "{kind} {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " `{}`", OneLine(name))?;
        }
        write!(f, " spawned at {site}")
    }
}

impl fmt::Display for Polled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.given.text() {
            "" => write!(f, "parasite `{}`", self.name)?,
            given => write!(f, "parasite `{}` ({})", OneLine(given), self.name)?,
        }
        self.spawn_site.map_or(Ok(()), |site| write!(f, " spawned at {site}"))
    }
}

/// The wait reason of a blocked thread.
pub(in crate::sched) fn wait_of(thread: &Thread) -> Option<Wait> {
    matches!(thread.state.get(), ThreadState::Blocked | ThreadState::Committed).then(|| thread.reason.get())
}
