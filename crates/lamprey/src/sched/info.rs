//! Who a thread is, for the program: number, name, kind, worker, spawn site.

use super::parasite::task::Task;
use super::thread::{Kind, Thread};
use std::fmt::{self, Write};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Who a thread is: what [`current`](crate::current) says of the caller, and a
/// [`JoinError`](crate::JoinError) of the thread that was joined.
#[doc(alias = "Thread")]
#[doc(alias = "Task")]
#[derive(Debug, Clone)]
pub struct ThreadInfo {
    id: u64,
    name: Name,
    kind: ThreadKind,
    worker: Option<usize>,
    spawn_site: Option<&'static Location<'static>>,
}

#[derive(Debug, Clone)]
enum Name {
    None,
    Given(Arc<str>),
    /// The type of its future.
    Type(&'static str),
}

impl From<Option<Arc<str>>> for Name {
    fn from(given: Option<Arc<str>>) -> Self {
        given.map_or(Self::None, Self::Given)
    }
}

/// What kind of thread it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadKind {
    /// A stackful Lamprey thread.
    Host,
    /// A parasite, stackless or stackful.
    Parasite,
    /// A kernel thread that is not running a Lamprey thread.
    Os,
}

impl ThreadInfo {
    pub(crate) fn new(
        id: u64,
        name: Option<Arc<str>>,
        kind: ThreadKind,
        worker: Option<usize>,
        spawn_site: Option<&'static Location<'static>>,
    ) -> Self {
        Self { id, name: name.into(), kind, worker, spawn_site }
    }

    /// Unique in its runtime, and never used again; 0 for an OS thread.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The name it was given. Of a stackless parasite without one: the type of its future.
    pub fn name(&self) -> Option<&str> {
        match &self.name {
            Name::None => None,
            Name::Given(name) => Some(name),
            Name::Type(name) => Some(name),
        }
    }

    /// Host, parasite or OS thread.
    pub fn kind(&self) -> ThreadKind {
        self.kind
    }

    /// The number of the worker it runs on.
    pub fn worker(&self) -> Option<usize> {
        self.worker
    }

    /// Where it was spawned. Of a stackless parasite it is known in programs with debug assertions only.
    pub fn spawn_site(&self) -> Option<&'static Location<'static>> {
        self.spawn_site
    }
}

/// A name as it is printed: it may come from outside, and must not begin lines of its own, or colour a terminal.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| {
            if char.is_control() { write!(f, "{}", char.escape_debug()) } else { f.write_char(char) }
        })
    }
}

impl fmt::Display for ThreadInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ThreadKind::Host => "host",
            ThreadKind::Parasite => "parasite",
            ThreadKind::Os => "OS thread",
        };
        write!(f, "{kind} {}", self.id)?;
        self.name().map_or(Ok(()), |name| write!(f, " `{}`", OneLine(name)))
    }
}

impl Thread {
    /// Who it is: a host or a stackful parasite.
    pub(crate) fn info(&self, worker: Option<usize>) -> ThreadInfo {
        let label = &self.label;
        ThreadInfo {
            id: label.id.get(),
            name: label.name().cloned().into(),
            kind: if self.kind == Kind::Parasite { ThreadKind::Parasite } else { ThreadKind::Host },
            worker,
            spawn_site: Some(label.spawn_site.get()),
        }
    }
}

impl Task {
    /// Its number, unique in its runtime; given to it by the first who asks. The caller keeps the task alive
    /// ([`number`](super::parasite::number), invariant 1).
    pub(crate) fn number(&self) -> u64 {
        if self.life.is_homeless() {
            return 0; // a thread that waits for a future, which has a number of its own
        }
        // SAFETY: a `WorkerShared` lives as long as any block of its worker's slab.
        self.life.number(|| unsafe { Self::home(NonNull::from(self)).as_ref() }.ids.next())
    }

    /// Who it is: a stackless parasite.
    ///
    /// # Safety
    /// The task is alive.
    pub(crate) unsafe fn info(this: NonNull<Task>, worker: Option<usize>) -> ThreadInfo {
        // SAFETY: alive (contract); these fields are constant.
        let task = unsafe { this.as_ref() };
        ThreadInfo {
            id: task.number(),
            name: match task.given_name() {
                Some(name) => Name::Given(name.clone()),
                None => Name::Type((task.body.name)()),
            },
            kind: ThreadKind::Parasite,
            worker,
            spawn_site: task.spawn_site(),
        }
    }
}
