//! The table for human readers.

use super::record::{Measured, Missing};
use super::targets::{self, Target};
use std::fmt::Write;

/// The rows of one bench under its name and description, in the order in which they were measured.
pub fn render(
    name: &str,
    about: &str,
    measured: &[Measured],
    missing: &[Missing],
    targets: &[Target],
) -> String {
    let mut out = format!("\n{name}: {about}\n");
    if !measured.is_empty() {
        out += "  variant               workers  metric             min     median  unit   runs   ratio  paired  to reach\n";
    }
    for m in measured {
        let verdicts = targets::verdicts(m, measured, targets).join("; ");
        let (min, median) = (short(m.min), short(m.median));
        let row = format!(
            "  {:<20}  {:>7}  {:<12} {:>9}  {:>9}  {:<5} {:>5}  {:>6}  {:>6}  {}",
            m.variant,
            m.workers,
            m.metric,
            min,
            median,
            m.unit,
            m.runs,
            ratio(m, measured),
            m.paired.map_or_else(String::new, short),
            verdicts
        );
        out += row.trim_end();
        out.push('\n');
    }
    for m in missing {
        let what = if m.skipped { "SKIPPED" } else { "FAILED" };
        writeln!(out, "  {:<20}  {:>7}  {what}: {}", m.variant, m.workers, m.error)
            .expect("a String takes all");
    }
    out
}

/// The ratio to the first variant, Lamprey's, with the same metric and number of workers.
fn ratio(m: &Measured, all: &[Measured]) -> String {
    let first = all.iter().find(|f| f.workers == m.workers && f.metric == m.metric);
    first.filter(|f| f.min > 0.0 && f.variant != m.variant).map_or_else(String::new, |f| short(m.min / f.min))
}

/// Formats with three significant digits.
fn short(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::targets::{Bound, target};
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([1234.5, 123.4, 12.34, 1.234, 0.0].map(short), ["1234", "123", "12.3", "1.23", "0.00"]);
    }

    fn hop(variant: &str, workers: usize, min: f64) -> Measured {
        let (bench, metric, unit) = ("ring".into(), "hop".into(), "ns".into());
        Measured {
            bench,
            variant: variant.into(),
            workers,
            metric,
            unit,
            min,
            median: min + 1.0,
            runs: 5,
            paired: None,
        }
    }

    #[test]
    fn a_rival_is_held_against_the_first_with_as_many_workers() {
        let all =
            [hop("lamprey", 1, 10.0), hop("lamprey", 2, 20.0), hop("tokio", 1, 25.0), hop("tokio", 2, 30.0)];
        assert_eq!(all.each_ref().map(|m| ratio(m, &all)), ["", "", "2.50", "1.50"]);
    }

    #[test]
    fn rows_and_gaps_are_shown() {
        let measured = hop("lamprey", 1, 30.0);
        let gap = |skipped| Missing {
            bench: "ring".into(),
            variant: "go".into(),
            workers: 1,
            skipped,
            error: "no go on PATH".into(),
        };
        let bound = target("ring", "lamprey", 1, "hop", Bound::Value(15.0));
        let table = render("ring", "a token", &[measured], &[gap(true), gap(false)], &[bound]);
        assert!(table.contains("ring: a token"));
        assert!(table.contains("<= 15: MISSED by x2.00"), "{table}");
        assert!(table.contains("SKIPPED: no go on PATH") && table.contains("FAILED: no go on PATH"));
    }
}
