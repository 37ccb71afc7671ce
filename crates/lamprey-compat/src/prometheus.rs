//! The counts of a runtime for Prometheus: a collector of the crate `prometheus-client`.

use lamprey::inspect::{Histogram, Metrics, SiteMetrics, WorkerMetrics};
use lamprey::{Handle, Stats, ThreadPoolStats};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fmt;

/// What the threads and pools of a runtime have done so far ([`Stats`]), read anew for each scrape.
///
/// Counting costs a runtime nothing more than it pays anyway. The names begin with `lamprey_`: `lamprey_hosts_total`,
/// `lamprey_sent_total`, `lamprey_pool_queued{pool="blocking"}` and so on. With the label `worker` there are histograms
/// (`lamprey_wake_to_run_seconds`, `lamprey_run_seconds`, `lamprey_timer_late_seconds` and others), and with the label `site` how long the
/// threads of each place where some are spawned have run, and waited for their turn. [`lamprey::inspect::metrics`] says which of
/// them are samples.
///
/// # Examples
/// ```
/// use lamprey::Handle;
/// use lamprey_compat::prometheus::RuntimeStats;
/// use prometheus_client::{encoding::text::encode, registry::Registry};
///
/// # lamprey::run(|| {
/// let mut registry = Registry::default();
/// registry.register_collector(Box::new(RuntimeStats::of(Handle::current().unwrap())));
///
/// lamprey::spawn(|| ()).join().unwrap();
/// let mut text = String::new();
/// encode(&mut text, &registry).unwrap();
/// assert!(text.contains("lamprey_hosts_total "));
/// # });
/// ```
#[derive(Debug)]
pub struct RuntimeStats(Handle);

impl RuntimeStats {
    /// Those of the runtime of `handle`.
    pub fn of(handle: Handle) -> Self {
        Self(handle)
    }
}

/// A name, what it counts, and where that is.
type Row<T> = (&'static str, &'static str, fn(&T) -> u64);

const COUNTS: [Row<Stats>; 13] = [
    ("hosts", "Hosts created", |stats| stats.hosts),
    ("stackless_parasites", "Stackless parasites created", |stats| stats.stackless),
    ("stackful_parasites", "Stackful parasites created", |stats| stats.stackful),
    ("reified", "Parasites that have blocked, or were queued before they ran", |stats| stats.reified),
    ("reified_bytes", "Size of the stackless ones among them", |stats| stats.reified_bytes),
    ("attached", "Runs of reified parasites by who has unblocked them", |stats| stats.attached),
    ("spilled", "Ready parasites that went to the back of the queue", |stats| stats.spilled),
    ("inflated", "Parasites that became hosts", |stats| stats.inflated),
    ("offered", "Parasites given to a worker that asked for work", |stats| stats.offered),
    ("communications", "Values that went through rendezvous channels", |stats| stats.communications),
    ("sent", "Wakes, new threads and messages for another worker", |stats| stats.sent),
    ("stolen", "Hosts that an idle worker has taken from another", |stats| stats.stolen),
    ("sleeps", "Sleeps of workers that had nothing to do", |stats| stats.sleeps),
];

const POOL_COUNTS: [Row<ThreadPoolStats>; 3] = [
    ("pool_calls", "Calls that a pool has accepted", |pool| pool.calls),
    ("pool_waited", "Calls that found all threads busy", |pool| pool.waited),
    ("pool_rejected", "Calls that were refused, or given up in the queue", |pool| pool.rejected),
];

const POOL_STATES: [Row<ThreadPoolStats>; 3] = [
    ("pool_threads", "Threads of a pool", |pool| pool.threads),
    ("pool_idle", "Threads of a pool that wait for a call", |pool| pool.idle),
    ("pool_queued", "Calls that wait for a thread", |pool| pool.queued),
];

fn pools(stats: &Stats) -> [(&'static str, ThreadPoolStats); 4] {
    [
        ("blocking", stats.blocking),
        ("files", stats.files),
        ("lookups", stats.lookups),
        ("compute", stats.compute),
    ]
}

/// What a worker has measured: name, explanation, unit, where.
type Measure = (&'static str, &'static str, f64, fn(&WorkerMetrics) -> &Histogram);

/// One second, in the unit of the histograms.
const SECOND: f64 = 1e9;

const MEASURES: [Measure; 7] = [
    ("spawn_to_run_seconds", "From spawn until a thread ran (sampled)", SECOND, |worker| {
        &worker.spawn_to_run
    }),
    ("wake_to_run_seconds", "From the wake until a thread ran (sampled)", SECOND, |worker| {
        &worker.wake_to_run
    }),
    ("run_seconds", "How long threads ran without a break (sampled)", SECOND, |worker| &worker.run),
    ("call_to_awake_seconds", "From a call until the worker was awake", SECOND, |worker| {
        &worker.call_to_awake
    }),
    ("asleep_seconds", "Sleeps of a worker", SECOND, |worker| &worker.asleep),
    ("timer_late_seconds", "How late timers of hosts have fired", SECOND, |worker| &worker.timer_late),
    ("ready_threads", "Threads that were ready, at each look for events", 1.0, |worker| {
        &worker.ready_lengths
    }),
];

const WORKER_COUNTS: [Row<WorkerMetrics>; 2] = [
    ("scheduling_points", "Blocking calls, yields and ends of threads", |worker| worker.scheduling_points),
    ("io_events", "Events of descriptors and completed operations", |worker| worker.io_events),
];

const WORKER_STATES: [Row<WorkerMetrics>; 2] = [
    ("ready", "Threads that were ready at the last look for events", |worker| worker.ready as u64),
    ("living_hosts", "Hosts that have started and have not ended", |worker| worker.hosts as u64),
];

/// Upper ends of the buckets, as powers of two: of times 64 ns to 17 s, each four times as long as the one before.
const ENDS: std::ops::RangeInclusive<u32> = 6..=34;

fn encode_histogram(mut to: MetricEncoder<'_>, of: &Histogram, unit: f64) -> fmt::Result {
    let ends = if unit == 1.0 { 0..=16 } else { ENDS };
    let mut below = 0;
    let mut buckets: Vec<_> = ends
        .step_by(2)
        .map(|power| {
            let end = 1_u64 << power;
            let count = of.count_up_to(end - 1) - below;
            below += count;
            // Each length in a range is less than the range's end, which is a power of two.
            (if unit == 1.0 { (end - 1) as f64 } else { end as f64 / unit }, count)
        })
        .collect();
    let count = of.count();
    buckets.push((f64::INFINITY, count - below));
    to.encode_histogram::<NoLabelSet>(of.sum() as f64 / unit, count, &buckets, None)
}

/// The counts and histograms of each worker.
fn encode_workers(encoder: &mut DescriptorEncoder<'_>, metrics: &Metrics) -> fmt::Result {
    let workers = || metrics.workers.iter().enumerate().map(|(number, worker)| (number.to_string(), worker));
    for (name, help, count) in WORKER_COUNTS {
        let name = format!("lamprey_{name}");
        let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Counter)?;
        for (number, worker) in workers() {
            ConstCounter::new(count(worker)).encode(family.encode_family(&[("worker", number)])?)?;
        }
    }
    for (name, help, state) in WORKER_STATES {
        let name = format!("lamprey_{name}");
        let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Gauge)?;
        for (number, worker) in workers() {
            let state = i64::try_from(state(worker)).unwrap_or(i64::MAX);
            ConstGauge::new(state).encode(family.encode_family(&[("worker", number)])?)?;
        }
    }
    for (name, help, unit, which) in MEASURES {
        let name = format!("lamprey_{name}");
        let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Histogram)?;
        for (number, worker) in workers() {
            encode_histogram(family.encode_family(&[("worker", number)])?, which(worker), unit)?;
        }
    }
    Ok(())
}

/// A name, what it counts, and how much that is.
type SiteRow = (&'static str, &'static str, fn(&SiteMetrics) -> f64);

/// Encodes, for each spawn site, how many times its threads have run and have waited for their turn, and for how long (sampled).
fn encode_sites(encoder: &mut DescriptorEncoder<'_>, metrics: &Metrics) -> fmt::Result {
    let rows: [SiteRow; 3] = [
        ("site_runs", "Runs that were measured", |site| site.run.count() as f64),
        ("site_run_seconds", "How long they lasted", |site| site.run.sum() as f64 / SECOND),
        ("site_ready_seconds", "How long threads were ready and waited for their turn (sampled)", |site| {
            (site.wake_to_run.sum() + site.spawn_to_run.sum()) as f64 / SECOND
        }),
    ];
    for (name, help, value) in rows {
        let name = format!("lamprey_{name}");
        let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Counter)?;
        for site in &metrics.sites {
            let labels = [("site", site.site.to_string())];
            ConstCounter::new(value(site)).encode(family.encode_family(&labels)?)?;
        }
    }
    Ok(())
}

impl Collector for RuntimeStats {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let metrics = self.0.metrics();
        let stats = metrics.stats;
        for (name, help, count) in COUNTS {
            let name = format!("lamprey_{name}");
            let counter = ConstCounter::new(count(&stats));
            counter.encode(encoder.encode_descriptor(&name, help, None, counter.metric_type())?)?;
        }
        for (name, help, count) in POOL_COUNTS {
            let name = format!("lamprey_{name}");
            let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Counter)?;
            for (pool, stats) in pools(&stats) {
                ConstCounter::new(count(&stats)).encode(family.encode_family(&[("pool", pool)])?)?;
            }
        }
        for (name, help, state) in POOL_STATES {
            let name = format!("lamprey_{name}");
            let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Gauge)?;
            for (pool, stats) in pools(&stats) {
                let state = i64::try_from(state(&stats)).unwrap_or(i64::MAX);
                ConstGauge::new(state).encode(family.encode_family(&[("pool", pool)])?)?;
            }
        }
        encode_workers(&mut encoder, &metrics)?;
        encode_sites(&mut encoder, &metrics)
    }
}
