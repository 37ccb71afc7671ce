//! A thread found by an inspection of a worker, and what it runs.

use super::holdings::Holding;
use super::object::Objects;
use crate::sched::info::OneLine;
use crate::sched::reason::Wait;
use crate::sched::scope_info::ScopeInfo;
use crate::sched::thread::{Kind, Thread, ThreadState};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Words that are looked for on stacks. (Hashed without random keys: in a simulation they would be drawn from its chance.)
pub(super) type Words = HashSet<usize, BuildHasherDefault<DefaultHasher>>;
/// How often each of them was found.
pub(super) type WordCounts = HashMap<usize, u32, BuildHasherDefault<DefaultHasher>>;

/// A thread that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    /// `Root`: not a thread of the program, but a worker that does not say which thread it runs.
    pub(crate) kind: Kind,
    pub(crate) worker: usize,
    pub(crate) spawn_site: Option<&'static Location<'static>>,
    /// Which runtime it is of: a number that says nothing else.
    pub(crate) runtime: usize,
    /// The number of the thread that has spawned it; 0 if that is not known.
    pub(crate) parent: u64,
    pub(crate) scope: Option<ScopeInfo>,
    /// For how long it has held its worker: of one that was found running, by a signal.
    pub(crate) held: Option<Duration>,
    /// `None`: it runs, or is ready.
    pub(crate) wait: Option<Wait>,
    /// What it waits for, by its address; 0 if that is not known.
    pub(crate) on: usize,
    /// The same, as far as it says more of itself.
    pub(crate) objects: Objects,
    /// For how long it has waited, as far as that is known.
    pub(crate) waiting: Option<Duration>,
    /// When its wait began, by its worker's coarse clock.
    pub(crate) since: u32,
    /// Its wait ends at a time limit.
    pub(crate) is_limited: bool,
    /// The address that a joiner waits for; 0 if that is not known.
    pub(crate) address: usize,
    /// The locks that it holds, as far as that is known.
    pub(crate) holds: Vec<Holding>,
    /// What was asked for that is on its stack, and how often; `None` if its stack was not looked at.
    pub(super) seen: Option<WordCounts>,
    /// The parasite that it polls.
    pub(crate) polls: Option<Polled>,
    /// The type of its future: of a stackless parasite.
    pub(crate) future: Option<&'static str>,
    /// How many there are: of stackless parasites that wait alike, one is listed for all.
    pub(crate) count: usize,
    /// An address within each call, the innermost first.
    pub(crate) stack: Vec<usize>,
}

impl Found {
    /// A thread of which nothing else is known.
    pub(super) fn new(id: u64, kind: Kind, worker: usize) -> Self {
        Self {
            id,
            name: None,
            kind,
            worker,
            spawn_site: None,
            runtime: 0,
            parent: 0,
            scope: None,
            held: None,
            wait: None,
            on: 0,
            objects: Objects::Unknown,
            waiting: None,
            since: 0,
            is_limited: false,
            address: 0,
            holds: Vec::new(),
            seen: None,
            polls: None,
            future: None,
            count: 1,
            stack: Vec::new(),
        }
    }
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
