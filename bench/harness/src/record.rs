//! The lines of JSON that a run writes, one object each.

use super::machine::Machine;
use serde::Serialize;

/// One line.
#[derive(Serialize, Debug)]
#[serde(untagged)]
pub enum Record {
    /// The first line: the machine and the software of the measurement.
    Machine(Machine),
    /// One metric of one variant.
    Measured(Measured),
    /// A variant that could not be run, or failed.
    Missing(Missing),
}

/// One metric of one variant of one bench. Smaller is better.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name of the bench.
    pub bench: String,
    /// Name of the variant.
    pub variant: String,
    /// The number of its worker threads.
    pub workers: usize,
    /// The metric.
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// The smallest of the runs.
    pub min: f64,
    /// The median of the runs.
    pub median: f64,
    /// Number of runs.
    pub runs: usize,
    /// The median of the quotients by the first variant with as many workers, run by run: both have run in the same seconds.
    /// `None` for the first itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired: Option<f64>,
}

/// The reason why a variant has no numbers.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Missing {
    /// Name of the bench.
    pub bench: String,
    /// Name of the variant.
    pub variant: String,
    /// The number of its worker threads.
    pub workers: usize,
    /// `true`: a tool that it needs is not installed. `false`: it was run and failed.
    pub skipped: bool,
    /// The error.
    pub error: String,
}

impl Record {
    /// The line, without the newline.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a record has only strings and numbers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_has_the_fields_of_the_format_in_order() {
        let measured = Measured {
            bench: "ring".into(),
            variant: "lamprey".into(),
            workers: 1,
            metric: "hop".into(),
            unit: "ns".into(),
            min: 9.5,
            median: 10.25,
            runs: 5,
            paired: None,
        };
        assert_eq!(
            Record::Measured(measured).line(),
            r#"{"bench":"ring","variant":"lamprey","workers":1,"metric":"hop","unit":"ns","min":9.5,"median":10.25,"runs":5}"#
        );
    }

    #[test]
    fn a_quotient_is_written_where_there_is_one() {
        let measured = Measured {
            bench: "ring".into(),
            variant: "go".into(),
            workers: 1,
            metric: "hop".into(),
            unit: "ns".into(),
            min: 9.5,
            median: 10.25,
            runs: 5,
            paired: Some(1.5),
        };
        assert!(Record::Measured(measured).line().ends_with(r#""runs":5,"paired":1.5}"#));
    }

    #[test]
    fn an_error_with_line_breaks_stays_on_one_line() {
        let missing = Missing {
            bench: "ring".into(),
            variant: "go".into(),
            workers: 1,
            skipped: true,
            error: "no go\non PATH".into(),
        };
        let line = Record::Missing(missing).line();
        assert_eq!(line.lines().count(), 1);
        assert!(line.contains(r#""skipped":true"#));
    }
}
