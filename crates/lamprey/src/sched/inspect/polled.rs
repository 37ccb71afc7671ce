//! What a thread runs, for messages: itself, or a stackless parasite on its stack. It can be asked for at any
//! instruction, also by a signal handler.

use super::found::Polled;
use crate::sched::parasite::carrier::is_carrier;
use crate::sched::parasite::task::Task;
use crate::sched::thread::{Kind, Thread};
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;

impl Thread {
    /// The stackless parasite that runs on this thread's stack.
    pub(crate) fn polls(&self) -> Option<Polled> {
        let task = NonNull::new(self.polling.get())?;
        // SAFETY: alive as long as it is polled (see `act_for`); these fields are constant.
        let task: &Task = unsafe { task.as_ref() };
        #[cfg(debug_assertions)]
        let spawn_site = Some(task.spawn_site);
        #[cfg(not(debug_assertions))]
        let spawn_site = None;
        Some(Polled { name: (task.body.name)(), spawn_site })
    }

    /// Where the program has spawned it; `None` if the runtime has, for itself.
    pub(crate) fn spawn_site(&self) -> Option<&'static Location<'static>> {
        (!is_carrier(self)).then(|| self.label.spawn_site.get())
    }

    /// Says who it is.
    pub(crate) fn describe(&self, out: &mut impl fmt::Write) -> fmt::Result {
        if let Some(polled) = self.polls() {
            write!(out, "{polled}, which runs on ")?;
        }
        let kind = match self.kind {
            Kind::Parasite => "parasite",
            _ => "host",
        };
        let label = &self.label;
        let name = label.name.as_deref().unwrap_or("unnamed");
        match self.spawn_site() {
            Some(site) => write!(out, "{kind} {} `{name}` spawned at {site}", label.id.get()),
            None => out.write_str("a host of the runtime's own"),
        }
    }
}
