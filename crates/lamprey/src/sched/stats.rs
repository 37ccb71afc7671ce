//! Counters of what a worker has done: always on, because each costs one plain addition.
//!
//! Invariant: a [`Counter`] is written by its worker's kernel thread only, and read by any thread. The
//! counters of a worker are therefore not a snapshot of one moment.

use crate::sync_shim::{AtomicU64, Ordering};

/// A counter with one writer.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(in crate::sched) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds `n`. Called by the worker's kernel thread only.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn add(&self, n: u64) {
        // Relaxed: with one writer no read-modify-write is needed, and the counter carries no data.
        let before = self.0.load(Ordering::Relaxed);
        // Relaxed: the counter carries no data.
        self.0.store(before + n, Ordering::Relaxed);
    }

    /// Raises the counter to at least `n`. Called by the worker's kernel thread only.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn raise_to(&self, n: u64) {
        if n > self.get() {
            // Relaxed: one writer; the counter carries no data.
            self.0.store(n, Ordering::Relaxed);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: the counter carries no data.
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one worker.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Counters {
    pub(crate) hosts: Counter,
    pub(crate) stackless: Counter,
    pub(crate) stackful: Counter,
    pub(crate) reified: Counter,
    pub(crate) reified_bytes: Counter,
    pub(crate) largest: Counter,
    pub(crate) attached: Counter,
    pub(crate) attached_inline: Counter,
    pub(crate) spilled: Counter,
    pub(crate) inflated: Counter,
    pub(crate) offered: Counter,
    pub(crate) communications: Counter,
    pub(crate) sent: Counter,
    pub(crate) stolen: Counter,
    pub(crate) sleeps: Counter,
    /// How often the root has run.
    pub(crate) rounds: Counter,
    /// How often the root has found a thread to run.
    pub(crate) runs: Counter,
    /// Scheduling points, as far as rounds have ended.
    pub(crate) turns: Counter,
    /// Events of descriptors, and completions of operations.
    pub(crate) io_events: Counter,
}

/// What the threads of a runtime have done so far ([`Runtime::stats`](crate::Runtime::stats)): the columns of
/// the paper's Table 2 (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight Asynchrony Using Parasitic Threads*,
/// 2011, 6.2), and further counts of how parasites were run.
///
/// # Examples
/// ```
/// let runtime = lamprey::Runtime::builder().workers(1).build()?;
/// runtime.run(|| {
///     let (tx, rx) = lamprey::channel();
///     let waits = lamprey::parasite(async move { rx.recv_async().await });
///     let ready = lamprey::parasite(async { 1 });
///     tx.send(1).unwrap();
///     assert_eq!(waits.join().unwrap().unwrap() + ready.join().unwrap(), 2);
/// });
/// let stats = runtime.stats();
/// assert_eq!((stats.stackless, stats.reified, stats.attached), (2, 1, 1));
/// assert_eq!(stats.ran_through(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "RuntimeMetrics")]
#[doc(alias = "metrics")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Hosts created, those of the runtime itself included.
    pub hosts: u64,
    /// Stackless parasites created.
    pub stackless: u64,
    /// Stackful parasites created.
    pub stackful: u64,
    /// Parasites that have blocked at least once, or were queued before they ran.
    pub reified: u64,
    /// Total size in bytes of the reified stackless ones; see [`average_size`](Self::average_size).
    pub reified_bytes: u64,
    /// Bytes of the largest reified stackless one.
    pub largest: u64,
    /// How often a reified parasite was run by the thread that unblocked it (or, if that has no worker, by
    /// the parasite's home worker).
    pub attached: u64,
    /// How many of `attached` ran inside the unblocking call.
    pub attached_inline: u64,
    /// How often a ready parasite went to the back of the queue, because it gave way or its budget was used
    /// up.
    pub spilled: u64,
    /// Parasites that became hosts: explicitly, by using up their time slice, or by their spawner's penalty.
    pub inflated: u64,
    /// Parasites given to another worker that asked for work.
    pub offered: u64,
    /// Values that went from one thread to another through rendezvous channels, variables and swaps, counted where the later of the
    /// two ran. Those of channels with a buffer are not counted.
    pub communications: u64,
    /// Wakes of threads of another worker, new threads for it, and other messages to it. Each costs some hundred nanoseconds, or some
    /// microseconds if that worker sleeps.
    pub sent: u64,
    /// Hosts that an idle worker has taken from another one.
    pub stolen: u64,
    /// How often a worker had nothing to do and slept.
    pub sleeps: u64,
    /// Channels that were taken from the one worker that had used them, each at a cost of some microseconds;
    /// counted over **all** runtimes of the process.
    pub revocations: u64,
    /// The threads for [`block`](crate::block) and [`block_async`](crate::block_async).
    pub blocking: ThreadPoolStats,
    /// The threads for calls of files that have to wait, where io_uring does not make them.
    pub files: ThreadPoolStats,
    /// The threads for lookups of names.
    pub lookups: ThreadPoolStats,
    /// The threads for [`compute`](crate::compute) and [`compute_async`](crate::compute_async).
    pub compute: ThreadPoolStats,
}

/// What a pool of kernel threads does now, and has done so far: a part of [`Stats`].
///
/// # Examples
/// ```
/// let runtime = lamprey::Runtime::builder().workers(1).blocking_threads(2).build()?;
/// runtime.run(|| lamprey::block(|| ()));
/// let stats = runtime.stats().blocking;
/// assert_eq!((stats.calls, stats.waited, stats.rejected, stats.queued), (1, 0, 0, 0));
/// assert!(stats.threads <= 2);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadPoolStats {
    /// Threads that it has now. In a simulation there are none.
    pub threads: u64,
    /// How many of them wait for a call.
    pub idle: u64,
    /// Calls that wait for a thread now.
    pub queued: u64,
    /// Calls that it has accepted so far.
    pub calls: u64,
    /// How many of them found all threads busy.
    pub waited: u64,
    /// Calls that it refused, or that no thread has taken within their time limit.
    pub rejected: u64,
}

/// Adds what the pools of a runtime have counted.
pub(crate) type Figures = std::sync::Arc<dyn Fn(&mut Stats) + Send + Sync>;

impl Stats {
    /// Parasites that ran to completion without blocking: their cost was that of a call.
    pub fn ran_through(&self) -> u64 {
        (self.stackless + self.stackful).saturating_sub(self.reified)
    }

    /// Average size in bytes of a reified stackless parasite; 0 if there was none.
    pub fn average_size(&self) -> u64 {
        self.reified_bytes.checked_div(self.reified).unwrap_or(0)
    }

    pub(crate) fn add(&mut self, counters: &Counters) {
        self.hosts += counters.hosts.get();
        self.stackless += counters.stackless.get();
        self.stackful += counters.stackful.get();
        self.reified += counters.reified.get();
        self.reified_bytes += counters.reified_bytes.get();
        self.largest = self.largest.max(counters.largest.get());
        self.attached += counters.attached.get();
        self.attached_inline += counters.attached_inline.get();
        self.spilled += counters.spilled.get();
        self.inflated += counters.inflated.get();
        self.offered += counters.offered.get();
        self.communications += counters.communications.get();
        self.sent += counters.sent.get();
        self.stolen += counters.stolen.get();
        self.sleeps += counters.sleeps.get();
    }
}
