//! A deadlock of the whole program: every thread waits, and nothing in the process can wake one. The
//! [ticker](crate::sched::ticker) looks for it when it has nothing else to do, so a program that runs pays nothing.
//!
//! # When a program stands still
//! When at one moment all of this is so:
//! * each worker of each runtime sleeps, without a deadline, with nothing ready, and no event loop of its own waits for
//!   anything (timers, sockets, pipes, signals, files, children: [`Sources::is_active`](crate::sched::source::Sources));
//! * the threads of the pools are idle;
//! * every other kernel thread of the process waits in a call of this crate, without a limit ([`os::resting`]).
//!
//! Then no code runs that could make a thread ready, and none will. So what the threads wait for need not be known: a
//! `WakeToken` or a `Waker` that is kept somewhere is used by nobody. A kernel thread that the crate does not know (one
//! of `std`, of another library, of C) may do anything: while there is one, no program counts as one that stands still.
//!
//! # How one moment is seen
//! The parts are read one after the other. Each worker counts what it runs, each pool its calls. [`look`] finds
//! everything at rest; then each worker is woken, so that it asks its event loops once more; two more looks find everything
//! at rest and all counts unchanged. A part that rested in both of these, and has done nothing between, rested at
//! each moment between the end of the one and the beginning of the other.
//!
//! # Invariants
//! 1. A worker, or a thread that rests, whose wake is under way does not count as resting: who wakes it takes it out of the
//!    count, before the wake.
//! 2. A worker says before it sleeps whether it expects something (`WorkerShared::expects`). That gets stale when another worker
//!    registers at its event loop, which is why it is woken.
//!
//! # Rejected
//! * Deciding by wait reasons: a thread in `suspend` or in a future of another library waits for it knows not what.
//! * A wake-up of its own, now and then: an idle process must not wake up.
//!
//! # Checked by
//! `tests/programs/broken.rs` (what is found, and what must not be), `tests/inspect/forked.rs`.

use super::groups::Groups;
use super::runtimes;
use crate::kernel::fork::PerProcess;
use crate::kernel::tasks;
use crate::sched::os;
use crate::sched::panic::Panic;
use crate::sched::reason::Wait;
use crate::sched::record::reports::what_led_to;
use crate::sched::shared::Shared;
use crate::sched::stats::{Stats, ThreadPoolStats};
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{Ordering, fence};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// From the moment when the ticker rests to the first look. Each further one comes after twice the time.
const FIRST: Duration = Duration::from_secs(1);
/// The longest such time.
const LAST: Duration = Duration::from_secs(64);
/// How long the threads have to end after a deadlock.
const END: Duration = Duration::from_secs(10);
/// How long the workers have to go back to sleep.
const PATIENCE: Duration = Duration::from_secs(2);

/// When a ticker looks next.
pub(in crate::sched) struct Watch {
    next: Duration,
    is_on: bool,
}

impl Watch {
    pub(in crate::sched) fn new(shared: &Shared) -> Self {
        Self { next: FIRST, is_on: shared.options.deadlocks }
    }

    /// A worker has run: looks are due from the beginning.
    pub(in crate::sched) fn begin_anew(&mut self) {
        self.next = FIRST;
    }

    /// How long to rest before the next look; `None` if there will be none.
    pub(in crate::sched) fn rest(&self) -> Option<Duration> {
        (self.is_on && self.next <= LAST).then_some(self.next)
    }

    /// Looks. A program that stands still is reported, and its runtimes end.
    pub(in crate::sched) fn look(&mut self) {
        static ONE: PerProcess<Mutex<()>> = PerProcess::new();
        self.next *= 2;
        let _one = ONE.get().lock().unwrap_or_else(PoisonError::into_inner);
        let all = runtimes::all();
        if all.iter().all(|shared| shared.options.deadlocks) && stands_still(&all) {
            report(&all);
        }
    }
}

/// True if nothing in the process can ever run again.
fn stands_still(all: &[Arc<Shared>]) -> bool {
    let Some(before) = look(all) else { return false };
    let workers = || all.iter().flat_map(|shared| shared.remotes());
    workers().for_each(|remote| _ = remote.notify());
    let deadline = Instant::now() + PATIENCE;
    loop {
        std::thread::sleep(Duration::from_millis(5));
        if let Some(first) = look(all) {
            if first.work != before.work {
                return false;
            }
            let have_looked = first.rounds.iter().zip(&before.rounds).all(|(now, then)| now > then);
            if have_looked {
                return look(all) == Some(first);
            }
        }
        if Instant::now() > deadline {
            return false;
        }
    }
}

/// The counts of a process in which nothing runs.
#[derive(PartialEq, Eq)]
struct Still {
    /// How often each worker's root has run.
    rounds: Vec<u64>,
    /// What the workers and the pools have done, and how many kernel threads rest.
    work: Vec<u64>,
}

/// `None` if something runs or is expected.
fn look(all: &[Arc<Shared>]) -> Option<Still> {
    let mut still = Still { rounds: Vec::new(), work: Vec::new() };
    let mut known = os::resting();
    still.work.push(known as u64);
    for shared in all {
        // Over: it could not be started, so its thread is not there to be counted.
        if shared.is_stopping() || shared.ticker.is_over() {
            return None;
        }
        for remote in shared.remotes() {
            still.rounds.push(remote.counters.rounds.get());
            still.work.push(remote.counters.runs.get());
            if !remote.is_still() {
                return None;
            }
        }
        let stats = shared.pools();
        for pool in [stats.blocking, stats.files, stats.lookups, stats.compute] {
            let ThreadPoolStats { threads, idle, queued, calls, .. } = pool;
            if threads != idle || queued != 0 {
                return None;
            }
            known += usize::try_from(threads).ok()?;
            still.work.push(calls);
        }
        // The workers, and the ticker.
        known += shared.alive() + 1;
    }
    are_all(known).then_some(still)
}

/// True if the process has no kernel threads but `known` ones, and those of the kernel's own for io_uring.
fn are_all(known: usize) -> bool {
    let Some(all) = kernel_threads() else { return false };
    all == known || all.checked_sub(known).is_some_and(|others| others == io_workers())
}

/// The number of kernel threads in the process, read at one moment.
fn kernel_threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
    threads.trim().parse().ok()
}

/// How many threads the kernel has added to the process for io_uring. They wait for operations, of which there are none.
fn io_workers() -> usize {
    let flags = |task: tasks::Task| task.word(FLAGS)?.parse::<u64>().ok();
    tasks::all().filter_map(flags).filter(|flags| flags & PF_IO_WORKER != 0).count()
}

/// The place of a thread's flags in the kernel's line.
const FLAGS: usize = 6;

/// The kernel's own flag of its threads for io_uring.
const PF_IO_WORKER: u64 = 0x10;

impl WorkerShared {
    /// True if it sleeps and expects nothing.
    fn is_still(&self) -> bool {
        let is_asleep = self.parking.is_asleep();
        // Acquire pairs with the SeqCst fence in `Parking::prepare`: the worker has written `expects` before it.
        fence(Ordering::Acquire);
        // Relaxed: ordered by the fence.
        is_asleep
            && !self.expects.load(Ordering::Relaxed)
            && self.inbox.is_empty()
            && self.unstarted.is_empty()
            && self.ready.count() == 0
    }
}

impl Shared {
    /// What its pools do.
    fn pools(&self) -> Stats {
        let mut stats = Stats::default();
        (self.figures)(&mut stats);
        stats
    }
}

/// Prints which threads wait for what, and ends the runtimes that have some.
#[cold]
fn report(all: &[Arc<Shared>]) {
    let found: Vec<_> = all.iter().map(|shared| shared.look()).collect();
    if found.iter().flatten().any(|thread| thread.wait == Some(Wait::Sleep)) {
        return; // for ever: what a program does that is to be ended from outside
    }
    let stuck: Vec<_> =
        all.iter().zip(&found).filter(|(_, found)| !found.is_empty()).map(|(all, _)| all).collect();
    if stuck.is_empty() {
        return; // kernel threads that wait for each other, in no runtime
    }
    let ids =
        all.iter().zip(&found).flat_map(|(shared, found)| found.iter().map(|one| (shared.address(), one.id)));
    let before = what_led_to("deadlock", &ids.collect::<Vec<_>>());
    let groups = Groups::of(found.into_iter().flatten().collect());
    let threads = match groups.threads() {
        1 => "the only thread waits".to_owned(),
        threads => format!("all {threads} threads wait"),
    };
    crate::bug::say!(
        "deadlock: {threads}, and nothing is under way in the process that could wake one (see RuntimeBuilder::deadlocks):{groups}{before}\n\
         They are cancelled now, and `run` panics."
    );
    for shared in &stuck {
        shared.fail(Panic::of_runtime(format!("deadlock: {threads}, and nothing could wake one")));
    }
    for shared in stuck {
        // Nobody has taken the panic: `run` waits for a host that does not end.
        if shared.await_end(Instant::now().checked_add(END)) > 0 && shared.has_failed() {
            crate::bug::say!(
                "the deadlock could not be ended by cancelling its threads: one of them shields itself, or has caught its cancellation. The \
                 process stands still, and can be killed"
            );
        }
    }
}
