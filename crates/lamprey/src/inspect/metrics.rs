//! What the runtimes have counted and measured, for the program.

use crate::sched::coop;
use crate::sched::inspect::runtimes;

pub use crate::sched::metrics::histogram::Histogram;
pub use crate::sched::metrics::sites::Spawned;
pub use crate::sched::metrics::snapshot::{Metrics, SiteMetrics, WorkerMetrics};

/// What the runtimes of the process, the oldest first, have counted and measured since they began: how long threads wait for their turn, and
/// run, for each worker and each place where threads are spawned; how many are ready; how late timers are; and all of
/// [`Stats`](crate::Stats). [`Runtime::metrics`](crate::Runtime::metrics) and [`Handle::metrics`](crate::Handle::metrics) tell it of one.
///
/// Nothing has to be turned on. Counts are exact. So are the times of what a worker does only now and then: sleeps, timers, looks for
/// events. How long threads wait for their turn and run is measured while the worker records its steps
/// ([`recording`](crate::inspect::recording)): always, if it does less than half a million things a second; otherwise of a sample, some
/// in a row, chosen by when things begin and not by how long they take. Which kinds of threads are in the sample may depend on
/// when the worker looks for events. So take the distribution from a histogram, and how often something happens from the counts.
/// Without recorder ([`RuntimeBuilder::recorder`](crate::RuntimeBuilder::recorder)) these histograms are empty.
/// Parasites that end without having blocked are calls, and no threads here. A thread that another worker wakes is ready, for these histograms, from the moment
/// at which its own worker has heard of it; how long that took while a thread held the worker is told by
/// [`Recording::delays`](crate::inspect::Recording::delays).
///
/// In a simulation everything is measured, by its own clock; its runtimes are not in this list, but `Handle::metrics` tells.
///
/// # Examples
/// ```
/// use lamprey::inspect::metrics;
///
/// # lamprey::run(|| {
/// # lamprey::spawn(|| ()).join().unwrap();
/// for runtime in metrics() {
///     let delay = runtime.schedule_delay();
///     println!("{} workers, ready threads wait {:?}", runtime.workers.len(), delay.quantile_time(0.99));
///     for site in runtime.sites.iter().take(3) {
///         println!("{} runs for {} ns in all", site.site, site.run.sum());
///     }
/// }
/// # });
/// ```
///
/// # Blocking
/// Never: it copies what the workers have written, and they go on meanwhile. The figures are therefore not of one moment.
#[doc(alias = "RuntimeMetrics")]
#[doc(alias = "runtime/metrics")]
#[must_use]
pub fn metrics() -> Vec<Metrics> {
    coop::look();
    runtimes::all().iter().map(|shared| shared.metrics()).collect()
}
