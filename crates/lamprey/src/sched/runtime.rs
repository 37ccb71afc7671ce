//! A set of workers: started, stopped, waited for. The public [`Runtime`](crate::Runtime) is built on it.
//!
//! Nothing here is static: several runtimes can exist side by side in a process, and every thread belongs to
//! one of them.

use super::affinity;
use super::duty::Duty;
use super::ids::Ids;
use super::inspect::layout;
use super::inspect::stack_use::StackUses;
use super::inspect::survey::Survey;
use super::kinds::Kinds;
use super::panic::Panic;
use super::policy::{Policy, PolicySlot};
use super::record::recording::Moment;
use super::shared::{Options, Shared};
use super::source::{SourceFactory, Sources};
use super::stats::Figures;
use super::switch;
use super::thread::{Abandoned, Thread};
use super::ticker::Ticker;
use super::waiter::Waiter;
use super::worker::{InPage, Worker};
use super::worker_shared::WorkerShared;
use crate::kernel::fork::Process;
use crate::sync_shim::probe_membarrier;
use crate::sync_shim::watched::{Condvar, Mutex};
use crate::sync_shim::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};
use swapstack::StackPool;

/// Makes a worker's instance of a policy, on that worker's kernel thread.
pub(crate) type PolicyFactory = Arc<dyn Fn() -> Box<dyn Policy> + Send + Sync>;

/// What a set of workers is built from.
pub(crate) struct Config {
    pub(crate) workers: usize,
    /// `None` is the default policy, whose calls the compiler inlines.
    pub(crate) policy: Option<PolicyFactory>,
    pub(crate) sources: Vec<SourceFactory>,
    pub(crate) stacks: Arc<StackPool>,
    /// Bytes of stack for a host that does not ask for a size.
    pub(crate) stack_size: u32,
    pub(crate) options: Options,
    /// The cores that the workers are pinned to, in turn; none if they are not.
    pub(crate) cores: Vec<usize>,
    /// Returns true if a timer of a host of the calling worker is due. Async-signal-safe; not for the root.
    pub(crate) is_overdue: fn() -> bool,
    /// Adds the counters of what is beside the workers.
    pub(crate) figures: Figures,
}

impl Shared {
    /// Starts the workers; if one fails to start, stops the others and returns its error.
    pub(crate) fn start(config: Config) -> io::Result<Arc<Shared>> {
        let shared = Self::without_workers(&config);
        if let Err(error) = shared.launch(&Arc::new(config)) {
            shared.stop(Duration::from_secs(1));
            return Err(error);
        }
        super::inspect::runtimes::add(&shared);
        super::tick::start(&shared);
        Ok(shared)
    }

    /// What the workers of a runtime share, before they start.
    pub(super) fn without_workers(config: &Config) -> Arc<Shared> {
        probe_membarrier();
        let workers = config.workers;
        let shared = Arc::new(Shared {
            remotes: OnceLock::new(),
            stacks: config.stacks.clone(),
            stack_size: config.stack_size,
            options: config.options.clone(),
            is_overdue: config.is_overdue,
            figures: config.figures.clone(),
            ticker: Ticker::new(config.options.slice, config.options.stuck_after),
            born: Moment::now(),
            awake: AtomicUsize::new(workers),
            idle: AtomicUsize::new(0),
            duty: Duty::new(),
            kinds: Kinds::new(),
            stopping: AtomicBool::new(false),
            next_place: AtomicUsize::new(0),
            ids: Arc::new(Ids::new(workers)),
            trimmed: AtomicU64::new(0),
            process: Process::this(),
            alive: Mutex::new(0),
            ended: Condvar::new(),
            failure: Mutex::new(None),
            survey: Survey::new(),
            stack_uses: StackUses::new(),
        });
        let remotes = (0..workers)
            .map(|index| {
                let runtime = Arc::as_ptr(&shared).cast();
                Arc::new(WorkerShared::new(index, runtime, shared.ids.clone(), shared.notes()))
            })
            .collect();
        shared
            .remotes
            .set(remotes)
            .unwrap_or_else(|_| crate::bug::bug!("the remotes of a runtime were set twice"));
        shared
    }

    /// Starts one kernel thread for each worker and waits until each has made its sources.
    fn launch(self: &Arc<Self>, config: &Arc<Config>) -> io::Result<()> {
        let (report, reports) = mpsc::channel();
        for remote in self.remotes() {
            let (shared, config, remote, report) =
                (self.clone(), config.clone(), remote.clone(), report.clone());
            let thread = std::thread::Builder::new().name(format!("lamprey-{}", remote.index));
            // Counted before it runs, so that `stop` waits for it.
            *shared.alive.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
            let spawned = thread.spawn(affinity::unpinned(move || {
                let outcome = worker_main(&shared, &config, remote, &report);
                shared.one_ended();
                // After the count: a failed start is reported to `launch`, which then waits for the others.
                let _ = outcome.map_err(|error| report.send(Err(error)));
            }));
            if let Err(error) = spawned {
                self.one_ended();
                return Err(error);
            }
        }
        for _ in self.remotes() {
            reports.recv().unwrap_or_else(|_| crate::bug::bug!("a worker ended without a report"))?;
        }
        Ok(())
    }

    fn one_ended(&self) {
        *self.alive.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) -= 1;
        self.ended.notify_all();
    }

    /// Tells all workers to end their hosts and then themselves, and waits at most `patience` for that;
    /// returns how many workers still run. Does not wait if the caller runs on one of them. Does nothing in a child made by
    /// `fork`, where none runs; its parent's go on.
    pub(crate) fn stop(&self, patience: Duration) -> usize {
        if !self.is_here() {
            return 0;
        }
        // Release pairs with the Acquire loads in `Worker::attend` and `Worker::park`.
        self.stopping.store(true, Ordering::Release);
        self.ticker.end();
        for remote in self.remotes() {
            self.claim_idle(remote);
            remote.notify();
        }
        if Worker::current().is_some_and(|worker| std::ptr::eq(&*worker.shared, self)) {
            return 0;
        }
        // A deadline beyond the clock's range is none.
        self.await_end(Instant::now().checked_add(patience))
    }

    /// Ends the runtime because of a panic that was not joined: [`run`](crate::Runtime::run) resumes the
    /// first such panic.
    pub(crate) fn fail(&self, panic: Panic) {
        let mut failure = self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let later = if failure.is_none() { failure.replace(panic) } else { Some(panic) };
        drop(failure);
        crate::bug::quietly(|| drop(later));
        self.stop(Duration::ZERO);
    }

    /// Sends a new host to a worker; ends it at once if that worker has ended, or is in a parent of this process.
    ///
    /// # Safety
    /// `thread` is unstarted and owned by the caller, who gives it up.
    pub(crate) unsafe fn send(&self, worker: usize, thread: NonNull<Thread>) {
        // SAFETY: unstarted, and given up by the caller (contract).
        if !self.is_here() || unsafe { self.remotes()[worker].deliver(Waiter::thread(thread)) }.is_err() {
            // SAFETY: not delivered, or given back: unstarted and owned.
            unsafe { switch::abandon(thread, Abandoned::Shutdown) };
        }
    }
}

/// The main function of a worker's kernel thread.
///
/// A panic here is one of a source, a policy or Lamprey itself: hosts catch theirs.
fn worker_main(
    shared: &Arc<Shared>,
    config: &Config,
    remote: Arc<WorkerShared>,
    report: &mpsc::Sender<io::Result<()>>,
) -> io::Result<()> {
    affinity::pin(&config.cores, remote.index)?;
    let place = make_worker(shared, config, remote)?;
    place.worker.install();
    let known = layout::enter(&place.worker);
    let _ = report.send(Ok(()));
    crate::bug::no_unwind("a source", || place.worker.work());
    drop(known);
    crate::bug::no_unwind("the destructor of a policy", move || drop(place));
    Ok(())
}

/// Makes a worker of the calling kernel thread, with its sources and its policy.
pub(super) fn make_worker(
    shared: &Arc<Shared>,
    config: &Config,
    remote: Arc<WorkerShared>,
) -> io::Result<Box<InPage>> {
    swapstack::overflow::arm_thread()?;
    // SAFETY: the call has no arguments and touches no memory. Relaxed: a number, read by `inspect::silent`.
    remote.tid.store(unsafe { libc::gettid() }, Ordering::Relaxed);
    let sources = crate::bug::no_unwind("the factory of a source", || Sources::make(&config.sources))?;
    let program =
        config.policy.as_ref().map(|make| crate::bug::no_unwind("the factory of a policy", || make()));
    let policy = PolicySlot::new(program);
    let (notifier, helpers) = crate::bug::no_unwind("the `notifier` or `helper` of a source", || {
        (sources.notifier(), sources.helpers())
    });
    remote.notifier.set(notifier).unwrap_or_else(|_| crate::bug::bug!("a remote was taken twice"));
    let _ = remote.helpers.set(helpers);
    Ok(InPage::new(Worker::new(remote, shared.clone(), policy, sources)))
}
