//! Target figures, which the measured ones are compared with. Each program of benches has a table of them.

use super::record::Measured;

/// A target.
pub struct Target {
    /// The bench.
    pub bench: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// With how many workers.
    pub workers: usize,
    /// The metric.
    pub metric: &'static str,
    /// What it must not exceed.
    pub bound: Bound,
}

/// An upper bound, because smaller is better for all metrics.
pub enum Bound {
    /// A value in the metric's unit.
    Value(f64),
    /// A multiple of the same metric of another variant in the same run.
    Times(f64, &'static str, usize),
}

use Bound::{Times, Value};

/// A line of a table of targets.
pub const fn target(
    bench: &'static str,
    variant: &'static str,
    workers: usize,
    metric: &'static str,
    bound: Bound,
) -> Target {
    Target { bench, variant, workers, metric, bound }
}

/// The bound of each target of `measured`, and whether it is met. `all` holds the figures that bounds refer
/// to.
pub fn verdicts(measured: &Measured, all: &[Measured], targets: &[Target]) -> Vec<String> {
    let same = |t: &&Target| {
        (t.bench, t.variant, t.workers, t.metric)
            == (&measured.bench, &measured.variant, measured.workers, &measured.metric)
    };
    targets.iter().filter(same).filter_map(|t| verdict(measured, &t.bound, all)).collect()
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

    const TARGETS: [Target; 3] = [
        target("pingpong", "lamprey", 1, "message", Value(20.0)),
        target("pingpong", "lamprey", 1, "message", Value(6.0)),
        target("pingpong", "lamprey", 2, "message", Times(2.0, "lamprey", 1)),
    ];

    fn measured(variant: &str, workers: usize, min: f64) -> Measured {
        let (bench, metric, unit) = ("pingpong".into(), "message".into(), "ns".into());
        Measured {
            bench,
            variant: variant.into(),
            workers,
            metric,
            unit,
            min,
            median: min,
            runs: 5,
            paired: None,
        }
    }

    #[test]
    fn a_value_is_met_or_missed_by_a_factor() {
        assert_eq!(
            verdicts(&measured("lamprey", 1, 20.0), &[], &TARGETS),
            ["<= 20: met", "<= 6: MISSED by x3.33"]
        );
        assert_eq!(verdicts(&measured("lamprey", 1, 6.0), &[], &TARGETS), ["<= 20: met", "<= 6: met"]);
    }

    #[test]
    fn a_ratio_looks_at_the_other_variant() {
        let all = [measured("lamprey", 1, 10.0)];
        assert_eq!(verdicts(&measured("lamprey", 2, 20.0), &all, &TARGETS), ["<= 2.00 x lamprey/1: met"]);
        assert_eq!(
            verdicts(&measured("lamprey", 2, 40.0), &all, &TARGETS),
            ["<= 2.00 x lamprey/1: MISSED by x2.00"]
        );
        assert!(verdicts(&measured("lamprey", 2, 40.0), &[], &TARGETS).is_empty());
    }

    #[test]
    fn rivals_have_no_targets() {
        assert!(verdicts(&measured("tokio", 1, 900.0), &[], &TARGETS).is_empty());
    }
}
