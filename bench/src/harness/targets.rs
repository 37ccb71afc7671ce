//! Lamprey's target figures, which the measured ones are compared with.

use super::record::Measured;

/// A target.
struct Target {
    bench: &'static str,
    variant: &'static str,
    workers: usize,
    metric: &'static str,
    bound: Bound,
}

/// An upper bound, because smaller is better for all metrics.
enum Bound {
    /// A value in the metric's unit.
    Value(f64),
    /// A multiple of the same metric of another variant in the same run.
    Times(f64, &'static str, usize),
}

use Bound::{Times, Value};

const fn target(
    bench: &'static str,
    variant: &'static str,
    workers: usize,
    metric: &'static str,
    bound: Bound,
) -> Target {
    Target { bench, variant, workers, metric, bound }
}

const TARGETS: [Target; 133] = [
    target("switch", "swapstack", 1, "switch", Value(0.8)),
    target("switch", "swapstack", 1, "switch", Times(1.0, "corosensei", 1)),
    target("yield", "lamprey", 1, "yield", Value(3.0)),
    target("spawn", "lamprey", 1, "one_by_one", Value(20.0)),
    target("pingpong", "lamprey", 1, "message", Value(20.0)),
    target("pingpong", "lamprey", 2, "message", Times(2.0, "lamprey", 1)),
    target("ring", "lamprey", 1, "hop", Value(15.0)),
    target("memory", "lamprey", 1, "memory", Value(4.4 * 1024.0)),
    target("memory", "lamprey", 1, "create", Value(2500.0)),
    target("parasite", "stackless", 1, "at_once", Value(3.0)),
    target("parasite", "stackless", 1, "at_once", Times(6.0, "call", 1)),
    target("parasite", "stackless", 1, "at_once", Times(1.0 / 40.0, "tokio", 1)),
    target("parasite", "stackful", 1, "at_once", Value(4.0)),
    target("parasite", "stackless", 1, "blocks", Value(8.0)),
    target("parasite", "stackless-inline", 1, "blocks", Value(8.0)),
    target("parasite", "stackful", 1, "blocks", Value(12.0)),
    target("parasite", "stackful-inline", 1, "blocks", Value(12.0)),
    target("async_send", "parasite", 1, "message", Times(1.05, "sync", 1)),
    target("parasite_crowd", "recv", 1, "memory", Value(96.0)),
    target("parasite_crowd", "recv", 1, "create", Value(40.0)),
    target("parasite_crowd", "recv", 1, "wake", Value(15.0)),
    // 48 bytes, and their share of the page tables.
    target("parasite_crowd", "yield", 1, "memory", Value(48.5)),
    target("parasite_fib", "lamprey", 1, "time", Value(12.0)),
    target("parasite_fib", "lamprey", 2, "time", Times(0.6, "lamprey", 1)),
    target("inflation", "parasites", 2, "time", Times(1.05, "hosts", 2)),
    target("pingpong", "lamprey", 1, "message", Value(6.0)),
    target("ring", "lamprey", 1, "hop", Value(6.0)),
    target("select", "lamprey", 1, "of_2", Value(25.0)),
    target("select", "lamprey", 1, "of_8", Value(60.0)),
    target("select", "lamprey", 1, "of_64", Value(400.0)),
    target("select_blocks", "lamprey", 1, "choice", Value(150.0)),
    target("choose_all", "choose_all", 1, "of_2", Times(1.0 / 3.0, "hosts", 1)),
    target("choose_all", "choose_all", 1, "of_8", Times(1.0 / 3.0, "hosts", 1)),
    target("choose_all", "choose_all", 1, "of_64", Times(1.0 / 3.0, "hosts", 1)),
    target("stream_bounded", "lamprey", 1, "message", Times(1.0, "tokio", 1)),
    target("stream_bounded", "lamprey", 1, "message", Times(1.0, "crossbeam", 1)),
    target("stream_bounded", "lamprey", 1, "message", Times(1.0, "flume", 1)),
    target("stream_bounded", "lamprey", 1, "message", Times(1.0, "flume-tokio", 1)),
    target("stream_bounded", "lamprey", 1, "message", Times(1.0, "go", 1)),
    target("stream_bounded", "lamprey", 2, "message", Times(1.0, "tokio", 2)),
    target("stream_bounded", "lamprey", 2, "message", Times(1.0, "crossbeam", 2)),
    target("stream_bounded", "lamprey", 2, "message", Times(1.0, "flume", 2)),
    target("stream_bounded", "lamprey", 2, "message", Times(1.0, "flume-tokio", 2)),
    target("stream_bounded", "lamprey", 2, "message", Times(1.0, "go", 2)),
    target("stream_mailbox", "lamprey", 1, "message", Times(1.0, "tokio", 1)),
    target("stream_mailbox", "lamprey", 1, "message", Times(1.0, "crossbeam", 1)),
    target("stream_mailbox", "lamprey", 1, "message", Times(1.0, "flume", 1)),
    target("stream_mailbox", "lamprey", 2, "message", Times(1.0, "tokio", 2)),
    target("stream_mailbox", "lamprey", 2, "message", Times(1.0, "crossbeam", 2)),
    target("stream_mailbox", "lamprey", 2, "message", Times(1.0, "flume", 2)),
    target("oneshot", "lamprey", 1, "oneshot", Value(15.0)),
    target("channels", "channel", 1, "channel", Value(64.0)),
    target("mutex", "lamprey", 1, "alone", Value(5.0)),
    target("mutex", "lamprey", 1, "contended", Value(5.0)),
    target("mutex", "lamprey", 2, "contended", Value(25.0)),
    target("condvar", "lamprey", 1, "pair", Times(1.0, "pthread", 1)),
    target("condvar", "lamprey", 1, "pair", Times(1.0, "tokio", 1)),
    target("condvar", "lamprey", 1, "pair", Times(1.0, "tokio-std", 1)),
    target("condvar", "lamprey", 1, "pair", Times(1.0, "go", 1)),
    target("condvar", "lamprey", 1, "pair", Times(1.0, "boost", 1)),
    target("condvar", "lamprey", 1, "many", Times(1.0, "pthread", 1)),
    target("condvar", "lamprey", 1, "many", Times(1.0, "tokio", 1)),
    target("condvar", "lamprey", 1, "many", Times(1.0, "tokio-std", 1)),
    target("condvar", "lamprey", 1, "many", Times(1.0, "go", 1)),
    target("condvar", "lamprey", 1, "many", Times(1.0, "boost", 1)),
    target("condvar", "lamprey", 2, "pair", Times(1.0, "pthread", 2)),
    target("condvar", "lamprey", 2, "pair", Times(1.0, "tokio", 2)),
    target("condvar", "lamprey", 2, "pair", Times(1.0, "tokio-std", 2)),
    target("condvar", "lamprey", 2, "pair", Times(1.0, "go", 2)),
    target("condvar", "lamprey", 2, "pair", Times(1.0, "boost", 2)),
    target("condvar", "lamprey", 2, "many", Times(1.0, "pthread", 2)),
    target("condvar", "lamprey", 2, "many", Times(1.0, "tokio", 2)),
    target("condvar", "lamprey", 2, "many", Times(1.0, "tokio-std", 2)),
    target("condvar", "lamprey", 2, "many", Times(1.0, "go", 2)),
    target("condvar", "lamprey", 2, "many", Times(1.0, "boost", 2)),
    target("sysbench_threads", "lamprey", 1, "of_1024", Times(1.0, "pthread", 1)),
    target("sysbench_threads", "lamprey", 1, "of_1024", Times(1.0, "go", 1)),
    target("sysbench_threads", "lamprey", 1, "of_1024", Times(1.0, "boost", 1)),
    target("sysbench_threads", "lamprey", 2, "of_1024", Times(1.0, "pthread", 2)),
    target("sysbench_threads", "lamprey", 2, "of_1024", Times(1.0, "go", 2)),
    target("sysbench_threads", "lamprey", 2, "of_1024", Times(1.0, "boost", 2)),
    target("sysbench_mutex", "lamprey", 1, "of_1024", Times(1.0, "pthread", 1)),
    target("sysbench_mutex", "lamprey", 1, "of_1024", Times(1.0, "go", 1)),
    target("sysbench_mutex", "lamprey", 1, "of_1024", Times(1.0, "boost", 1)),
    target("sysbench_mutex", "lamprey", 2, "of_1024", Times(1.0, "pthread", 2)),
    target("sysbench_mutex", "lamprey", 2, "of_1024", Times(1.0, "go", 2)),
    target("sysbench_mutex", "lamprey", 2, "of_1024", Times(1.0, "boost", 2)),
    target("stm", "lamprey", 1, "counter", Times(1.0, "stm", 1)),
    target("stm", "lamprey", 1, "counter", Times(1.0, "ghc", 1)),
    target("stm", "lamprey", 1, "disjoint", Times(1.0, "stm", 1)),
    target("stm", "lamprey", 1, "disjoint", Times(1.0, "ghc", 1)),
    target("stm", "lamprey", 1, "hot", Times(1.0, "stm", 1)),
    target("stm", "lamprey", 1, "hot", Times(1.0, "ghc", 1)),
    target("stm", "lamprey", 1, "list", Times(1.0, "stm", 1)),
    target("stm", "lamprey", 1, "list", Times(1.0, "ghc", 1)),
    target("stm", "lamprey", 2, "counter", Times(1.0, "stm", 2)),
    target("stm", "lamprey", 2, "counter", Times(1.0, "ghc", 2)),
    target("stm", "lamprey", 2, "disjoint", Times(1.0, "stm", 2)),
    target("stm", "lamprey", 2, "disjoint", Times(1.0, "ghc", 2)),
    target("stm", "lamprey", 2, "hot", Times(1.0, "stm", 2)),
    target("stm", "lamprey", 2, "hot", Times(1.0, "ghc", 2)),
    target("stm", "lamprey", 2, "list", Times(1.0, "stm", 2)),
    target("stm", "lamprey", 2, "list", Times(1.0, "ghc", 2)),
    target("stm", "lamprey", 1, "counter", Times(3.0, "mutex", 1)),
    target("stm", "lamprey", 1, "disjoint", Times(3.0, "mutex", 1)),
    target("stm", "lamprey", 1, "list", Times(3.0, "mutex", 1)),
    target("stm", "lamprey", 2, "disjoint", Times(0.59, "lamprey", 1)),
    target("quicksort", "hosts", 1, "cut_256", Times(1.0, "pthread", 1)),
    target("quicksort", "hosts", 1, "cut_256", Times(1.0, "go", 1)),
    target("quicksort", "hosts", 1, "cut_256", Times(1.0, "boost", 1)),
    target("quicksort", "hosts", 2, "cut_256", Times(1.0, "pthread", 2)),
    target("quicksort", "hosts", 2, "cut_256", Times(1.0, "go", 2)),
    target("quicksort", "hosts", 2, "cut_256", Times(1.0, "boost", 2)),
    target("condvar_affinity", "placed", 2, "number", Times(1.0, "apart", 2)),
    target("scope", "hosts", 1, "child", Value(25.0)),
    target("scope", "parasites", 1, "child", Value(25.0)),
    target("cancel", "hosts", 1, "cancel", Value(300.0)),
    target("cancel", "hosts", 1, "cancel", Times(1.0, "tokio", 1)),
    target("cancel", "stackless", 1, "cancel", Value(300.0)),
    target("idle", "lamprey", 1, "cpu", Value(0.1)),
    target("idle", "lamprey", 2, "cpu", Value(0.1)),
    target("idle_connections", "hosts", 1, "user", Value(5.0 * 1024.0)),
    target("idle_connections", "parasites", 1, "user", Value(1024.0)),
    target("http", "lamprey", 1, "request", Times(1.0 / 0.9, "nginx", 1)),
    target("http", "lamprey", 2, "request", Times(1.0 / 0.9, "nginx", 2)),
    target("sim", "hosts-1", 1, "step", Value(500.0)),
    target("sim", "hosts-1", 1, "step", Times(0.2, "madsim", 1)),
    target("sim", "hosts-2", 1, "step", Value(500.0)),
    target("sim", "hosts-2", 1, "step", Times(0.2, "madsim", 1)),
    target("compile", "lamprey", 2, "build", Value(3.0)),
    target("compile", "lamprey", 2, "size", Value(600.0)),
    target("compile", "itself", 2, "release", Value(15.0)),
    target("compile", "itself", 2, "dev", Value(15.0)),
];

/// The bound of each target of `measured`, and whether it is met. `all` holds the figures that bounds refer
/// to.
pub fn verdicts(measured: &Measured, all: &[Measured]) -> Vec<String> {
    let same = |t: &&Target| {
        (t.bench, t.variant, t.workers, t.metric)
            == (&measured.bench, &measured.variant, measured.workers, &measured.metric)
    };
    TARGETS.iter().filter(same).filter_map(|t| verdict(measured, &t.bound, all)).collect()
}

/// `None` if the bound refers to a variant that was not run.
fn verdict(measured: &Measured, bound: &Bound, all: &[Measured]) -> Option<String> {
    let (limit, meaning) = match *bound {
        Value(limit) => (limit, format!("<= {limit}")),
        Times(factor, variant, workers) => {
            let other = all.iter().find(|m| {
                m.bench == measured.bench
                    && m.metric == measured.metric
                    && m.variant == variant
                    && m.workers == workers
            })?;
            (factor * other.min, format!("<= {factor:.2} x {variant}/{workers}"))
        }
    };
    Some(if measured.min <= limit {
        format!("{meaning}: met")
    } else {
        format!("{meaning}: MISSED by x{:.2}", measured.min / limit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(variant: &str, workers: usize, min: f64) -> Measured {
        let (bench, metric, unit) = ("pingpong".into(), "message".into(), "ns".into());
        Measured { bench, variant: variant.into(), workers, metric, unit, min, median: min, runs: 5 }
    }

    #[test]
    fn a_value_is_met_or_missed_by_a_factor() {
        assert_eq!(verdicts(&measured("lamprey", 1, 20.0), &[]), ["<= 20: met", "<= 6: MISSED by x3.33"]);
        assert_eq!(verdicts(&measured("lamprey", 1, 6.0), &[]), ["<= 20: met", "<= 6: met"]);
    }

    #[test]
    fn a_ratio_looks_at_the_other_variant() {
        let all = [measured("lamprey", 1, 10.0)];
        assert_eq!(verdicts(&measured("lamprey", 2, 20.0), &all), ["<= 2.00 x lamprey/1: met"]);
        assert_eq!(verdicts(&measured("lamprey", 2, 40.0), &all), ["<= 2.00 x lamprey/1: MISSED by x2.00"]);
        assert!(verdicts(&measured("lamprey", 2, 40.0), &[]).is_empty());
    }

    #[test]
    fn rivals_have_no_targets() {
        assert!(verdicts(&measured("tokio", 1, 900.0), &[]).is_empty());
    }

    #[test]
    fn every_target_names_a_bench_and_a_variant_that_exist() {
        for t in &TARGETS {
            let bench = crate::benches::find(t.bench).unwrap_or_else(|| panic!("no bench {}", t.bench));
            assert!(bench.workers.contains(&t.workers), "{} with {} workers", t.bench, t.workers);
            let named = |name| bench.variants.iter().any(|v| v.name == name);
            assert!(named(t.variant), "no {} in {}", t.variant, t.bench);
            if let Times(_, other, _) = t.bound {
                assert!(named(other), "no {other} in {}", t.bench);
            }
        }
    }
}
