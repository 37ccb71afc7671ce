//! What a runtime has counted and measured, for the recorder of the crate `metrics`.

use ::metrics::{
    Label, SharedString, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use lamprey::inspect::{Histogram, Metrics, WorkerMetrics};
use lamprey::{Handle, Stats, ThreadPoolStats};

/// Publishes what a runtime counts and measures ([`Metrics`]) to the recorder that the program has installed (`metrics::set_global_recorder`).
///
/// The names begin with `lamprey_`. Counters: `lamprey_hosts`, `lamprey_parasites`, `lamprey_communications`, `lamprey_stolen`,
/// `lamprey_attached`, `lamprey_pool_calls{pool}`, of each worker `lamprey_scheduling_points`, `lamprey_io_events`, `lamprey_sleeps`. Gauges:
/// `lamprey_ready{worker}`, `lamprey_living{worker}`, `lamprey_pool_queued{pool}`, `lamprey_pool_threads{pool}`. Histograms, in seconds,
/// with the label `worker`: `lamprey_spawn_to_run`, `lamprey_wake_to_run`, `lamprey_run`, `lamprey_call_to_awake`, `lamprey_timer_late`.
///
/// The first [`publish`](Self::publish) describes them to the recorder. Each gives what has come since the last time, so call it every some seconds. A value of a histogram is
/// given as the upper end of the range that it was counted in, at most a quarter too large.
///
/// # Examples
/// ```no_run
/// use lamprey_compat::metrics::Publisher;
/// use std::time::Duration;
///
/// lamprey::run(|| {
///     let mut publisher = Publisher::of(lamprey::Handle::current().unwrap());
///     lamprey::spawn(move || loop {
///         publisher.publish();
///         lamprey::sleep(Duration::from_secs(5));
///     });
/// });
/// ```
#[derive(Debug)]
pub struct Publisher {
    of: Handle,
    last: Metrics,
    is_described: bool,
}

/// A name, what it tells, and where that is.
type Row<T, V> = (&'static str, &'static str, fn(&T) -> V);

const COUNTS: [Row<Stats, u64>; 5] = [
    ("lamprey_hosts", "Hosts created", |stats| stats.hosts),
    ("lamprey_parasites", "Parasites created", |stats| stats.stackless + stats.stackful),
    ("lamprey_communications", "Values that went through rendezvous channels", |stats| stats.communications),
    ("lamprey_stolen", "Hosts that an idle worker has taken from another", |stats| stats.stolen),
    ("lamprey_attached", "Runs of reified parasites by who has unblocked them", |stats| stats.attached),
];

const POOL_COUNTS: [Row<ThreadPoolStats, u64>; 1] =
    [("lamprey_pool_calls", "Calls that a pool has accepted", |pool| pool.calls)];

const POOL_STATES: [Row<ThreadPoolStats, u64>; 2] = [
    ("lamprey_pool_queued", "Calls that wait for a thread of a pool", |pool| pool.queued),
    ("lamprey_pool_threads", "Threads of a pool", |pool| pool.threads),
];

const WORKER_COUNTS: [Row<WorkerMetrics, u64>; 3] = [
    ("lamprey_scheduling_points", "Blocking calls, yields and ends of threads", |worker| {
        worker.scheduling_points
    }),
    ("lamprey_io_events", "Events of descriptors and completed operations", |worker| worker.io_events),
    ("lamprey_sleeps", "Sleeps of a worker that had nothing to do", |worker| worker.stats.sleeps),
];

const WORKER_STATES: [Row<WorkerMetrics, usize>; 2] = [
    ("lamprey_ready", "Threads that were ready at the last look for events", |worker| worker.ready),
    ("lamprey_living", "Hosts that have started and have not ended", |worker| worker.hosts),
];

/// Histograms.
type Times = (&'static str, &'static str, fn(&WorkerMetrics) -> &Histogram);

const TIMES: [Times; 5] = [
    ("lamprey_spawn_to_run", "From spawn until a thread ran (sampled)", |worker| &worker.spawn_to_run),
    ("lamprey_wake_to_run", "From the wake until a thread ran (sampled)", |worker| &worker.wake_to_run),
    ("lamprey_run", "How long threads ran without a break (sampled)", |worker| &worker.run),
    ("lamprey_call_to_awake", "From a call until the worker was awake", |worker| &worker.call_to_awake),
    ("lamprey_timer_late", "How late timers of hosts have fired", |worker| &worker.timer_late),
];

/// Tells the recorder what the names mean.
fn describe() {
    let counters = COUNTS.map(|(name, text, _)| (name, text)).into_iter();
    let counters = counters.chain(POOL_COUNTS.map(|(name, text, _)| (name, text)));
    let counters = counters.chain(WORKER_COUNTS.map(|(name, text, _)| (name, text)));
    counters.for_each(|(name, text)| describe_counter!(name, text));
    POOL_STATES.iter().for_each(|(name, text, _)| describe_gauge!(*name, *text));
    WORKER_STATES.iter().for_each(|(name, text, _)| describe_gauge!(*name, *text));
    TIMES.iter().for_each(|(name, text, _)| describe_histogram!(*name, Unit::Seconds, *text));
}

fn label(key: &'static str, value: impl Into<SharedString>) -> Vec<Label> {
    vec![Label::new(key, value.into())]
}

impl Publisher {
    /// A publisher for the runtime of `handle`.
    pub fn of(handle: Handle) -> Self {
        Self { of: handle, last: Metrics::default(), is_described: false }
    }

    /// Gives the recorder what there is now. Without recorder it does nothing.
    ///
    /// # Cancellation
    /// The call is not interrupted.
    ///
    /// # Blocking
    /// Not by itself: as the recorder does.
    pub fn publish(&mut self) {
        if !std::mem::replace(&mut self.is_described, true) {
            describe();
        }
        let now = self.of.metrics();
        let stats = &now.stats;
        COUNTS.iter().for_each(|(name, _, count)| counter!(*name).absolute(count(stats)));
        let pools = [
            ("blocking", stats.blocking),
            ("files", stats.files),
            ("lookups", stats.lookups),
            ("compute", stats.compute),
        ];
        for (pool, stats) in pools {
            let labels = || label("pool", pool);
            POOL_COUNTS.iter().for_each(|(name, _, count)| counter!(*name, labels()).absolute(count(&stats)));
            POOL_STATES.iter().for_each(|(name, _, state)| gauge!(*name, labels()).set(state(&stats) as f64));
        }
        for (number, worker) in now.workers.iter().enumerate() {
            publish_worker(number, worker, self.last.workers.get(number));
        }
        self.last = now;
    }
}

fn publish_worker(number: usize, worker: &WorkerMetrics, last: Option<&WorkerMetrics>) {
    let labels = || label("worker", number.to_string());
    WORKER_COUNTS.iter().for_each(|(name, _, count)| counter!(*name, labels()).absolute(count(worker)));
    WORKER_STATES.iter().for_each(|(name, _, state)| gauge!(*name, labels()).set(state(worker) as f64));
    for (name, _, times) in TIMES {
        let to = histogram!(name, labels());
        let before = last.map(times);
        for (nanos, count) in times(worker).buckets() {
            let known = before.map_or(0, |before| before.count_up_to(nanos) - below(before, nanos));
            to.record_many(nanos.min(times(worker).largest()) as f64 / 1e9, (count - known) as usize);
        }
    }
}

/// How many values are in the ranges before the one that ends with `upper`.
fn below(of: &Histogram, upper: u64) -> u64 {
    of.buckets().take_while(|(other, _)| *other < upper).map(|(_, count)| count).sum()
}
