//! What a policy is asked with, and what it answers.

use super::Hints;
use crate::sched::shared::Shared;
use crate::sched::thread::Label;
use crate::sync_shim::Ordering;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// How a policy has parasites that have been woken ([`Policy::parasites`](super::Policy::parasites)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parasites {
    /// They run ahead of the hosts, without the policy, while their budget lasts.
    #[default]
    Ahead,
    /// They come through [`Policy::ready`](super::Policy::ready), and run when [`Policy::next`](super::Policy::next)
    /// says so. Idle workers take none of them.
    Queued,
}

/// Where a new host starts ([`Policy::place`](super::Policy::place)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// Here, unless another worker takes it first, or has nothing to do: the rules of [`spawn`](crate::spawn).
    #[default]
    Anywhere,
    /// Here, and no other worker may take it. It comes through [`Policy::ready`](super::Policy::ready) at once.
    Here,
    /// On the worker with this number, where no other may take it. (With a number that there is not, as
    /// `Anywhere`.)
    On(usize),
}

/// What a worker does that has nothing ready ([`Policy::idle`](super::Policy::idle)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Idle {
    /// It takes from other workers what has waited there for long, and looks for messages for as long as that has
    /// paid lately.
    #[default]
    LookForWork,
    /// It looks for messages and at its sources for so long before it sleeps, and takes nothing from other workers.
    /// `Duration::MAX`: it never sleeps.
    Spin(Duration),
    /// It sleeps at once, and takes nothing from other workers.
    Sleep,
}

/// A host that is about to be queued for the first time.
pub struct NewThread<'a>(pub(super) &'a Label);

impl NewThread<'_> {
    /// The name given to [`Builder::name`](crate::Builder::name).
    pub fn name(&self) -> Option<&str> {
        self.0.name().map(Arc::as_ref)
    }

    /// What the program has said of it.
    pub fn hints(&self) -> &Hints {
        self.0.hints()
    }

    /// Where it was spawned.
    pub fn spawn_site(&self) -> &'static Location<'static> {
        self.0.spawn_site.get()
    }
}

impl std::fmt::Debug for NewThread<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewThread")
            .field("name", &self.name())
            .field("hints", self.hints())
            .finish_non_exhaustive()
    }
}

/// The workers of a runtime, as one of them sees them. The numbers are a moment old.
pub struct Workers<'a> {
    pub(super) here: usize,
    pub(super) shared: &'a Shared,
}

impl Workers<'_> {
    /// The number of the worker that asks.
    pub fn here(&self) -> usize {
        self.here
    }

    /// How many there are, numbered from 0.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.shared.remotes().len()
    }

    /// How many hosts live on a worker, roughly, or wait to start there.
    ///
    /// # Panics
    /// If there is no worker with that number.
    pub fn hosts(&self, worker: usize) -> usize {
        self.shared.remotes()[worker].population()
    }

    /// True if a worker has nothing to do.
    ///
    /// # Panics
    /// If there is no worker with that number.
    pub fn is_idle(&self, worker: usize) -> bool {
        // Relaxed: a hint.
        !self.shared.remotes()[worker].is_working.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Workers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("here", &self.here).field("len", &self.len()).finish()
    }
}
