//! A scrape has what the runtime has counted.

use lamprey::Runtime;
use lamprey_compat::prometheus::RuntimeStats;
use prometheus_client::{encoding::text::encode, registry::Registry};

/// The value of a line that begins with `name`.
fn value(text: &str, name: &str) -> u64 {
    let of_line = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(of_line).unwrap_or_else(|| panic!("no {name} in\n{text}"))
}

#[test]
fn a_scrape_has_what_was_counted() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(RuntimeStats::of(runtime.handle())));
    let scrape = || {
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    };
    let before = scrape();
    runtime.run(|| {
        (0..10).for_each(|_| lamprey::spawn(|| ()).join().unwrap());
        lamprey::block(|| ());
        lamprey::parasite(async {}).join().unwrap();
    });
    let (after, stats) = (scrape(), runtime.stats());
    assert!(value(&after, "lamprey_hosts_total") >= value(&before, "lamprey_hosts_total") + 10, "{after}");
    assert_eq!(value(&after, "lamprey_stackless_parasites_total"), stats.stackless);
    assert_eq!(value(&after, "lamprey_pool_calls_total{pool=\"blocking\"}"), 1);
    assert_eq!(value(&after, "lamprey_pool_queued{pool=\"compute\"}"), 0);
    assert!(value(&after, "lamprey_sleeps_total") > 0, "{after}");
    let rows: Vec<_> = after.lines().filter(|line| line.starts_with("# TYPE lamprey_")).collect();
    assert_eq!(rows.len(), 33, "{after}");
    let metrics = runtime.metrics();
    for (number, worker) in metrics.workers.iter().enumerate() {
        let of =
            |name: &str, more: &str| value(&after, &format!("lamprey_{name}{{{more}worker=\"{number}\"}}"));
        assert_eq!(of("wake_to_run_seconds_count", ""), worker.wake_to_run.count());
        assert_eq!(of("run_seconds_count", ""), worker.run.count());
        assert_eq!(of("timer_late_seconds_count", ""), 0, "nobody has slept");
    }
    let buckets: Vec<u64> = (after.lines())
        .filter(|line| line.starts_with("lamprey_run_seconds_bucket") && line.contains("worker=\"0\""))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(buckets.is_sorted() && buckets.last() == Some(&metrics.workers[0].run.count()), "{after}");
    assert!(after.contains("lamprey_site_runs_total{site=\"") && after.contains("prometheus.rs:"), "{after}");
}
