//! Threads that were found, as text: those that wait for the same in the same call are listed once.

use super::found::Found;
use super::survivor::Survivor;
use crate::sched::info::OneLine;
use crate::sched::reason::Wait;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Most groups that are printed.
const MOST: usize = 30;
/// Most names of a group that are printed, beside the first one's.
const MOST_NAMES: usize = 7;

/// Threads, those alike together, in the order in which they were found.
pub(crate) struct Groups {
    groups: Vec<Group>,
    /// The number of all.
    threads: usize,
}

/// Threads that wait for the same in the same call.
struct Group {
    first: Survivor,
    /// How long ago they were seen there before.
    since: Option<Duration>,
    others: usize,
    /// The names of some others.
    names: Vec<Arc<str>>,
}

impl Group {
    fn of(thread: Found, since: Option<Duration>) -> Self {
        let others = thread.count - 1;
        Self { first: Survivor::new(thread), since, others, names: Vec::new() }
    }

    fn add(&mut self, thread: Found) {
        self.others += thread.count;
        if let Some(name) = thread.name.filter(|name| self.first.thread().name() != Some(name))
            && self.names.len() < MOST_NAMES
            && !self.names.contains(&name)
        {
            self.names.push(name);
        }
    }
}

/// What the threads of a group have in common.
type Place = (Option<&'static Location<'static>>, Option<Wait>, Vec<usize>, Option<&'static str>, bool);

impl Groups {
    /// Groups `found`: each with the time for which it is known to have been there.
    pub(crate) fn of(found: impl IntoIterator<Item = (Found, Option<Duration>)>) -> Self {
        let mut this = Self { groups: Vec::new(), threads: 0 };
        let mut like: HashMap<Place, usize> = HashMap::new();
        for (thread, since) in found {
            let place =
                (thread.spawn_site, thread.wait, thread.stack.clone(), thread.future, since.is_some());
            this.threads += thread.count;
            let group = *like.entry(place).or_insert(this.groups.len());
            match this.groups.get_mut(group) {
                Some(group) => group.add(thread),
                None => this.groups.push(Group::of(thread, since)),
            }
        }
        this
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}

impl fmt::Display for Groups {
    /// Each group begins a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Group { first, since, others, names } in self.groups.iter().take(MOST) {
            write!(f, "\n{}", first.head())?;
            if let Some(since) = since {
                write!(f, ", as it did {since:.1?} before")?;
            }
            match others {
                0 => {}
                1 => f.write_str("; and another one in the same way")?,
                others => write!(f, "; and {others} others in the same way")?,
            }
            for (n, name) in names.iter().enumerate() {
                let (before, name) = (if n == 0 { ": " } else { ", " }, OneLine(name));
                write!(f, "{before}`{name}`")?;
            }
            if !names.is_empty() && names.len() < *others {
                f.write_str(", ..")?;
            }
            write!(f, "\n{}", first.stack().of_program())?;
        }
        match self.groups.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, "\n(and {more} more places where threads wait)"),
        }
    }
}
