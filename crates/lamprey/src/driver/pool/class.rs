//! [`Class`]: which calls share a pool; the [`Pools`] of a runtime, one for each class.
//!
//! Invariant: a thread runs calls of its own class only. So calls of one class, however many and however long, take no thread
//! from another.

use super::{PoolShared, member_of};
use crate::memory::lasting::lasting_local;
#[cfg(not(loom))]
use crate::sched::source::Source;
#[cfg(not(loom))]
use crate::sched::stats::Stats;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// The default for the largest number of threads for calls that block.
#[cfg(not(loom))]
pub(crate) const MOST_THREADS: usize = 64;
/// The default for the largest number of threads for name lookups.
#[cfg(not(loom))]
const MOST_LOOKUPS: usize = 16;
/// The default for the number of calls that may wait before a call that may be refused is.
#[cfg(not(loom))]
const MOST_QUEUED: usize = 1024;

/// How long an idle pool thread waits for a call before it ends.
const KEEP: Duration = Duration::from_secs(10);

lasting_local! {
    /// The pools of the runtime to whose worker this kernel thread belongs.
    static CURRENT: RefCell<Option<Shares>> = RefCell::new(None);
}

/// Which calls share a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(loom, allow(dead_code))]
pub(crate) enum Class {
    /// Whatever the program blocks in.
    Blocking,
    /// Calls of files.
    Files,
    /// Lookups of names, which may take as long as the network.
    Lookups,
    /// Long computations.
    Compute,
}

impl Class {
    /// What the builder calls it.
    #[cfg(not(loom))]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Files => "file",
            Self::Lookups => "lookup",
            Self::Compute => "compute",
        }
    }

    /// True if a call may take long for reasons beyond this machine, so that its thread may not count ([`lookout`](super::lookout)).
    #[cfg(not(loom))]
    pub(super) fn may_be_held(self) -> bool {
        matches!(self, Self::Files | Self::Lookups)
    }

    pub(super) fn thread_name(self) -> &'static str {
        // At most 15 bytes: Linux has no room for more.
        match self {
            Self::Blocking => "lamprey-pool",
            Self::Files => "lamprey-files",
            Self::Lookups => "lamprey-lookup",
            Self::Compute => "lamprey-compute",
        }
    }
}

/// How many threads the pools of a runtime may have, and how many calls may wait. `None`: the default.
#[derive(Debug, Clone, Copy)]
#[cfg(not(loom))]
pub(crate) struct Limits {
    pub(crate) blocking: usize,
    pub(crate) files: Option<usize>,
    pub(crate) lookups: Option<usize>,
    pub(crate) compute: Option<usize>,
    pub(crate) queue: usize,
}

#[cfg(not(loom))]
impl Default for Limits {
    fn default() -> Self {
        Self { blocking: MOST_THREADS, files: None, lookups: None, compute: None, queue: MOST_QUEUED }
    }
}

#[cfg(not(loom))]
impl Limits {
    const CLASSES: [Class; 4] = [Class::Blocking, Class::Files, Class::Lookups, Class::Compute];

    pub(crate) fn of(&self, class: Class) -> usize {
        match class {
            Class::Blocking => self.blocking,
            Class::Files => self.files.unwrap_or(self.blocking),
            Class::Lookups => self.lookups.unwrap_or(self.blocking.min(MOST_LOOKUPS)),
            Class::Compute => {
                self.compute.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
            }
        }
    }

    /// The first number that no pool can have: 0.
    pub(crate) fn zero(&self) -> Option<Class> {
        Self::CLASSES.into_iter().find(|class| self.of(*class) == 0)
    }
}

/// The pools of a runtime, for those who call them.
pub(crate) type Shares = Arc<[Arc<PoolShared>]>;

/// Exchanges the pools of the calling kernel thread and `kept`.
#[cfg(not(loom))]
pub(crate) fn exchange(kept: &mut Option<Shares>) {
    CURRENT.with(|current| std::mem::swap(&mut *current.borrow_mut(), kept));
}

/// The pools of the calling worker's runtime; `None` on other threads.
#[cfg(not(loom))]
pub(crate) fn shares() -> Option<Shares> {
    CURRENT.with(|current| current.borrow().clone())
}

/// The pool of the calling worker's runtime for calls of this class; `None` on other threads.
pub(crate) fn current(class: Class) -> Option<Arc<PoolShared>> {
    CURRENT.with(|current| current.borrow().as_ref().map(|shares| of(shares, class)))
}

/// The pool for a class; in tests one pool may have them all.
pub(crate) fn of(shares: &Shares, class: Class) -> Arc<PoolShared> {
    shares[class as usize % shares.len()].clone()
}

/// The pools of one runtime. Their threads end when this is dropped.
#[derive(Debug)]
pub(crate) struct Pools(pub(super) Shares);

impl Pools {
    #[cfg(not(loom))]
    pub(crate) fn new(limits: Limits) -> Self {
        Self::with(limits, |_| {})
    }

    /// Pools without threads, for a simulation: each call runs between two steps of the program, some time after it has
    /// been made.
    #[cfg(not(loom))]
    pub(crate) fn simulated(limits: Limits) -> Self {
        Self::with(limits, |pool| pool.simulated = true)
    }

    #[cfg(not(loom))]
    fn with(limits: Limits, change: impl Fn(&mut PoolShared)) -> Self {
        let make = |class| {
            let mut pool = PoolShared::new(class, limits.of(class), limits.queue, KEEP);
            change(&mut pool);
            Arc::new(pool)
        };
        Self(Limits::CLASSES.map(make).into())
    }

    /// One pool of at most `max` threads (at least one) for all classes. They are started on demand.
    #[cfg(any(test, loom))]
    pub(crate) fn of_one(max: usize, keep: Duration) -> Self {
        Self([Arc::new(PoolShared::new(Class::Blocking, max, 0, keep))].into())
    }

    /// Makes these the pools for the threads of the calling kernel thread.
    pub(crate) fn install(&self) {
        CURRENT.with(|current| *current.borrow_mut() = Some(Arc::clone(&self.0)));
    }

    /// The pools as a source of the calling kernel thread's worker.
    #[cfg(not(loom))]
    pub(crate) fn share(&self) -> Share {
        self.install();
        Share
    }

    /// What says how they are.
    #[cfg(not(loom))]
    pub(crate) fn figures(&self) -> impl Fn(&mut Stats) + Send + Sync + 'static {
        let shares = self.0.clone();
        move |stats| {
            let figures = |class| of(&shares, class).stats();
            stats.blocking = figures(Class::Blocking);
            stats.files = figures(Class::Files);
            stats.lookups = figures(Class::Lookups);
            stats.compute = figures(Class::Compute);
        }
    }

    #[cfg(any(test, loom))]
    pub(crate) fn shared(&self) -> Arc<PoolShared> {
        self.0[0].clone()
    }
}

impl Drop for Pools {
    fn drop(&mut self) {
        self.0.iter().for_each(|pool| pool.close());
        // A pool thread that drops the last handle of its own runtime must not wait for itself, nor for another whose call
        // may wait for this one.
        if !self.0.iter().any(|pool| member_of() == Arc::as_ptr(pool)) {
            self.0.iter().for_each(|pool| pool.await_end());
        }
    }
}

/// A worker's share of the pools: a source that is never polled, as pool threads wake their callers themselves.
#[cfg(not(loom))]
pub(crate) struct Share;

#[cfg(not(loom))]
impl Source for Share {
    fn poll(&mut self) {}

    fn active(&self) -> bool {
        false
    }
}
