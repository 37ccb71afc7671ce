//! What a thread runs, for messages: its own code, or a stackless parasite on its stack. It may be read at
//! any instruction, also in a signal handler.

use super::found::{Polled, Short};
use crate::sched::info::OneLine;
use crate::sched::parasite::carrier::is_carrier;
use crate::sched::parasite::task::Task;
use crate::sched::thread::{Kind, Thread};
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;

impl Task {
    /// Where it was spawned. Known with debug assertions only: it costs eight bytes for each parasite.
    pub(crate) fn spawn_site(&self) -> Option<&'static Location<'static>> {
        #[cfg(debug_assertions)]
        return Some(self.spawn_site);
        #[cfg(not(debug_assertions))]
        None
    }
}

impl Thread {
    /// The stackless parasite that runs on this thread's stack.
    pub(crate) fn polls(&self) -> Option<Polled> {
        let task = NonNull::new(self.polling.get())?;
        // SAFETY: `polling` names a task only while it is alive (`act_for` resets it before the right to run
        // is given up); the fields read are constant.
        let task: &Task = unsafe { task.as_ref() };
        let given = Short::of(task.given_name().map_or("", |name| name));
        Some(Polled { name: (task.body.name)(), given, spawn_site: task.spawn_site() })
    }

    /// Where the program spawned it; `None` for a host of the runtime's own.
    pub(crate) fn spawn_site(&self) -> Option<&'static Location<'static>> {
        (!is_carrier(self)).then(|| self.label.spawn_site.get())
    }

    /// Writes its kind, number, name and spawn site.
    pub(crate) fn describe(&self, out: &mut impl fmt::Write) -> fmt::Result {
        if let Some(polled) = self.polls() {
            write!(out, "{polled}, which runs on ")?;
        }
        self.describe_host(out)
    }

    /// As [`describe`](Self::describe), without the parasite that it polls.
    pub(crate) fn describe_host(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let kind = match self.kind {
            Kind::Parasite => "parasite",
            _ => "host",
        };
        let label = &self.label;
        let name = label.name().map_or("unnamed", |name| name);
        match self.spawn_site() {
            Some(site) => write!(out, "{kind} {} `{}` spawned at {site}", label.id.get(), OneLine(name)),
            None => out.write_str("a host of the runtime's own"),
        }
    }
}
