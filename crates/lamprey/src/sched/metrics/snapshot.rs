//! What a reader gets: [`Metrics`].

use super::histogram::Histogram;
use super::sites::Spawned;
use crate::sched::shared::Shared;
use crate::sched::stats::Stats;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::collections::HashMap;

/// What a runtime has counted and measured since it began ([`metrics`](crate::inspect::metrics)).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// The counts of all workers together, and what the pools do.
    pub stats: Stats,
    /// The workers, by number.
    pub workers: Vec<WorkerMetrics>,
    /// The places where threads are spawned, those first whose threads have run for the longest time.
    pub sites: Vec<SiteMetrics>,
}

/// What one worker has counted and measured ([`Metrics`]). Times are in nanoseconds.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// The counts of this worker; those of pools are 0.
    pub stats: Stats,
    /// Scheduling points: blocking calls, yields and ends of threads. Exact, but for the last 64 at most.
    pub scheduling_points: u64,
    /// How often the worker has looked for messages and events.
    pub rounds: u64,
    /// Events of sockets and other descriptors, and operations that the kernel has completed. Those that another worker has fetched count
    /// there.
    pub io_events: u64,
    /// Threads that were ready when the worker last looked for events, about 50 µs ago while it is busy; 0 while it sleeps.
    pub ready: usize,
    /// Hosts that have started and have not ended, those of the runtime itself included.
    pub hosts: usize,
    /// From spawn until the thread ran. Sampled. Of a host that another worker has taken it counts there.
    pub spawn_to_run: Histogram,
    /// From the wake until the thread ran: of hosts and parasites that were ready again because what they waited for had
    /// happened, or their time was over. A wake from another worker counts from its arrival. Sampled.
    pub wake_to_run: Histogram,
    /// How long threads have run without a break: until they blocked, yielded or ended, or another ran on top of them. Sampled.
    pub run: Histogram,
    /// How many threads were ready, each time the busy worker has looked for events (about every 50 µs).
    pub ready_lengths: Histogram,
    /// From the call by another worker that has ended a sleep, until the worker was awake. All of them.
    pub call_to_awake: Histogram,
    /// How long the worker has slept each time. All of them.
    pub asleep: Histogram,
    /// How long after its time each timer of a host has fired. All of them; timers of futures are not in it.
    pub timer_late: Histogram,
}

/// What was measured of the threads that were spawned at one place ([`Metrics`]). Times are in nanoseconds, and sampled.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SiteMetrics {
    /// Where it is.
    pub site: Spawned,
    /// From spawn until the thread ran.
    pub spawn_to_run: Histogram,
    /// From the wake until the thread ran.
    pub wake_to_run: Histogram,
    /// How long its threads have run without a break.
    pub run: Histogram,
}

impl Metrics {
    /// One histogram of all workers: `metrics.total(|worker| &worker.wake_to_run)`.
    ///
    /// # Examples
    /// ```
    /// # let runtime = lamprey::Runtime::builder().workers(2).build()?;
    /// # runtime.run(|| lamprey::spawn(|| ()).join().unwrap());
    /// let late = runtime.metrics().total(|worker| &worker.wake_to_run);
    /// println!("one in a hundred waits longer than {:?} for its turn", late.quantile_time(0.99));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn total(&self, which: impl Fn(&WorkerMetrics) -> &Histogram) -> Histogram {
        let mut total = Histogram::default();
        self.workers.iter().for_each(|worker| total.merge(which(worker)));
        total
    }

    /// How long threads that were ready have waited for their turn: new ones and those that were woken. Sampled.
    #[doc(alias = "sched latencies")]
    pub fn schedule_delay(&self) -> Histogram {
        let mut delay = self.total(|worker| &worker.spawn_to_run);
        delay.merge(&self.total(|worker| &worker.wake_to_run));
        delay
    }
}

impl WorkerShared {
    fn metrics(&self) -> WorkerMetrics {
        let mut stats = Stats::default();
        stats.add(&self.counters);
        let (counters, measured) = (&self.counters, &self.measured);
        WorkerMetrics {
            stats,
            scheduling_points: counters.turns.get(),
            rounds: counters.rounds.get(),
            io_events: counters.io_events.get(),
            // Relaxed (both): figures for who looks.
            ready: measured.ready_now.load(Ordering::Relaxed),
            hosts: self.hosts.load(Ordering::Relaxed),
            spawn_to_run: measured.spawn_to_run.copy(),
            wake_to_run: measured.wake_to_run.copy(),
            run: measured.run.copy(),
            ready_lengths: measured.ready.copy(),
            call_to_awake: measured.call_to_awake.copy(),
            asleep: measured.asleep.copy(),
            timer_late: measured.timer_late.copy(),
        }
    }
}

impl Shared {
    /// What its workers have counted and measured.
    pub(crate) fn metrics(&self) -> Metrics {
        let mut sites = HashMap::<Spawned, SiteMetrics>::new();
        for remote in self.remotes() {
            remote.measured.sites.each(|site, measured| {
                let none = || SiteMetrics {
                    site,
                    spawn_to_run: Histogram::default(),
                    wake_to_run: Histogram::default(),
                    run: Histogram::default(),
                };
                let sum = sites.entry(site).or_insert_with(none);
                let sums = [&mut sum.spawn_to_run, &mut sum.wake_to_run, &mut sum.run];
                sums.into_iter().zip(&measured).for_each(|(sum, more)| sum.merge(more));
            });
        }
        let mut sites: Vec<_> = sites.into_values().collect();
        sites.sort_by(|a, b| b.run.sum().cmp(&a.run.sum()).then(a.site.cmp(&b.site)));
        let workers = self.remotes().iter().map(|remote| remote.metrics()).collect();
        Metrics { stats: self.stats(), workers, sites }
    }
}
