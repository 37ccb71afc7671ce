//! [`Shared`]: what the workers of a runtime share (Go's global `sched`), and the runtime's options.

use super::duty::Duty;
use super::ids::Ids;
use super::inspect::stack_use::StackUses;
use super::inspect::survey::Survey;
use super::kinds::Kinds;
use super::panic::{Panic, Panics};
use super::record::recording::Moment;
use super::stats::Figures;
use super::ticker::Ticker;
use super::worker_shared::WorkerShared;
use crate::kernel::fork::Process;
use crate::sync_shim::watched::{Condvar, Mutex};
use crate::sync_shim::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use swapstack::StackPool;

/// Options of a runtime: how it treats parasites ([`super::parasite::offer`]), workers that are held up, and
/// panics.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) inflation: bool,
    pub(crate) penalty: u8,
    pub(crate) offering: bool,
    pub(crate) slice: Duration,
    /// After how long a worker that is held up is reported.
    pub(crate) stuck_after: Duration,
    pub(crate) panics: Panics,
    /// A deadlock is reported, and ends the runtime.
    pub(crate) deadlocks: bool,
    /// How many notes of each worker the recorder keeps; 0: it is off.
    pub(crate) recorder: usize,
    /// Where reports keep what is recorded.
    pub(crate) record_dir: Option<Arc<Path>>,
    /// The workers are virtual: they share a kernel thread ([`super::virtual_worker`]).
    pub(crate) simulated: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            inflation: true,
            penalty: 10,
            offering: true,
            slice: Duration::from_millis(10),
            stuck_after: Duration::from_millis(100),
            panics: Panics::Report,
            deadlocks: true,
            recorder: 1 << 14,
            record_dir: None,
            simulated: false,
        }
    }
}

/// What the workers of a runtime share.
pub(crate) struct Shared {
    pub(super) remotes: OnceLock<Box<[Arc<WorkerShared>]>>,
    pub(crate) stacks: Arc<StackPool>,
    pub(crate) stack_size: u32,
    pub(crate) options: Options,
    pub(super) is_overdue: fn() -> bool,
    /// The counters of what is beside the workers.
    pub(super) figures: Figures,
    pub(crate) ticker: Ticker,
    /// When the runtime was made.
    pub(super) born: Moment,
    /// Number of workers that are neither dozing nor idle (see `steal`).
    pub(super) awake: AtomicUsize,
    /// Number of workers whose `WorkerShared::idle` is set.
    pub(super) idle: AtomicUsize,
    pub(super) duty: Duty,
    pub(super) kinds: Kinds,
    pub(super) stopping: AtomicBool,
    pub(super) next_place: AtomicUsize,
    pub(super) ids: Arc<Ids>,
    /// When the current period of `trim` began, in ticks.
    pub(super) trimmed: AtomicU64,
    /// That of its kernel threads.
    pub(super) process: Process,
    pub(super) alive: Mutex<usize>,
    pub(super) ended: Condvar,
    /// The panic that has ended the runtime.
    pub(super) failure: Mutex<Option<Panic>>,
    pub(super) survey: Survey,
    pub(super) stack_uses: StackUses,
}

impl Shared {
    /// The shared state of each worker, by index.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn remotes(&self) -> &[Arc<WorkerShared>] {
        self.remotes.get().map_or(&[], |remotes| remotes)
    }

    /// How many notes of each worker the recorder keeps. A simulation has a log instead.
    pub(super) fn notes(&self) -> usize {
        if self.options.simulated { 0 } else { self.options.recorder }
    }

    /// How long ago the runtime was made.
    #[cfg(feature = "live")]
    pub(crate) fn age(&self) -> Duration {
        self.born.elapsed()
    }

    /// The sum of the workers' counters.
    pub(crate) fn stats(&self) -> super::stats::Stats {
        let revocations = crate::bias::revocations();
        let mut stats = super::stats::Stats { revocations, ..super::stats::Stats::default() };
        self.remotes().iter().for_each(|remote| stats.add(&remote.counters));
        (self.figures)(&mut stats);
        stats
    }

    /// Waits until every worker has ended or the deadline has passed; returns how many still run.
    pub(super) fn await_end(&self, deadline: Option<Instant>) -> usize {
        let mut alive = self.alive.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while *alive > 0 {
            let left = deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            alive = self.ended.wait_timeout(alive, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        *alive
    }

    /// False in a child made by `fork`: none of its kernel threads is there, and a thread that is gone may have its locks.
    pub(crate) fn is_here(&self) -> bool {
        self.process.is_this()
    }

    /// True once its threads are told to end.
    pub(crate) fn is_stopping(&self) -> bool {
        // Acquire pairs with the Release store in `stop`.
        self.stopping.load(Ordering::Acquire)
    }

    /// How many workers run.
    pub(super) fn alive(&self) -> usize {
        *self.alive.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes the panic that has ended the runtime, if there was one.
    pub(crate) fn take_failure(&self) -> Option<Panic> {
        self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// True if a panic has ended the runtime, and nobody has taken it.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some()
    }

    /// A number for a thread that is spawned from outside the runtime.
    pub(crate) fn new_id(&self) -> u64 {
        self.ids.next()
    }

    /// The worker for the next host that is to be spread over the workers: round-robin.
    pub(crate) fn next_place(&self) -> usize {
        // Relaxed: only a rotation.
        self.next_place.fetch_add(1, Ordering::Relaxed) % self.remotes().len()
    }
}
