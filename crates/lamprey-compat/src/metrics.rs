//! What a runtime has counted and measured, for the recorder of the crate `metrics`.

use ::metrics::{Label, SharedString, counter, gauge, histogram};
use lamprey::Handle;
use lamprey::inspect::{Histogram, Metrics, WorkerMetrics};

/// Publishes what a runtime counts and measures ([`Metrics`]) to the recorder that the program has installed (`metrics::set_global_recorder`).
///
/// The names begin with `lamprey_`. Counters: `lamprey_hosts`, `lamprey_parasites`, `lamprey_communications`, `lamprey_stolen`,
/// `lamprey_attached`, `lamprey_pool_calls{pool}`, of each worker `lamprey_scheduling_points`, `lamprey_io_events`, `lamprey_sleeps`. Gauges:
/// `lamprey_ready{worker}`, `lamprey_living{worker}`, `lamprey_pool_queued{pool}`, `lamprey_pool_threads{pool}`. Histograms, in seconds,
/// with the label `worker`: `lamprey_spawn_to_run`, `lamprey_wake_to_run`, `lamprey_run`, `lamprey_call_to_awake`, `lamprey_timer_late`.
///
/// [`publish`](Self::publish) gives what has come since the last time, so call it every some seconds. A value of a histogram is
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
}

type Row = (&'static str, fn(&WorkerMetrics) -> &Histogram);

const TIMES: [Row; 5] = [
    ("lamprey_spawn_to_run", |worker| &worker.spawn_to_run),
    ("lamprey_wake_to_run", |worker| &worker.wake_to_run),
    ("lamprey_run", |worker| &worker.run),
    ("lamprey_call_to_awake", |worker| &worker.call_to_awake),
    ("lamprey_timer_late", |worker| &worker.timer_late),
];

fn label(key: &'static str, value: impl Into<SharedString>) -> Vec<Label> {
    vec![Label::new(key, value.into())]
}

impl Publisher {
    /// A publisher for the runtime of `handle`.
    pub fn of(handle: Handle) -> Self {
        Self { of: handle, last: Metrics::default() }
    }

    /// Gives the recorder what there is now. Without recorder it does nothing.
    ///
    /// # Cancellation
    /// The call is not interrupted.
    ///
    /// # Blocking
    /// Not by itself: as the recorder does.
    pub fn publish(&mut self) {
        let now = self.of.metrics();
        let stats = &now.stats;
        counter!("lamprey_hosts").absolute(stats.hosts);
        counter!("lamprey_parasites").absolute(stats.stackless + stats.stackful);
        counter!("lamprey_communications").absolute(stats.communications);
        counter!("lamprey_stolen").absolute(stats.stolen);
        counter!("lamprey_attached").absolute(stats.attached);
        let pools = [
            ("blocking", stats.blocking),
            ("files", stats.files),
            ("lookups", stats.lookups),
            ("compute", stats.compute),
        ];
        for (pool, stats) in pools {
            counter!("lamprey_pool_calls", label("pool", pool)).absolute(stats.calls);
            gauge!("lamprey_pool_queued", label("pool", pool)).set(stats.queued as f64);
            gauge!("lamprey_pool_threads", label("pool", pool)).set(stats.threads as f64);
        }
        for (number, worker) in now.workers.iter().enumerate() {
            publish_worker(number, worker, self.last.workers.get(number));
        }
        self.last = now;
    }
}

fn publish_worker(number: usize, worker: &WorkerMetrics, last: Option<&WorkerMetrics>) {
    let labels = || label("worker", number.to_string());
    counter!("lamprey_scheduling_points", labels()).absolute(worker.scheduling_points);
    counter!("lamprey_io_events", labels()).absolute(worker.io_events);
    counter!("lamprey_sleeps", labels()).absolute(worker.stats.sleeps);
    gauge!("lamprey_ready", labels()).set(worker.ready as f64);
    gauge!("lamprey_living", labels()).set(worker.hosts as f64);
    for (name, times) in TIMES {
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
