//! The lines of JSON that a run leaves behind, one object each.

use super::machine::Machine;
use serde::Serialize;

/// One line.
#[derive(Serialize, Debug)]
#[serde(untagged)]
pub enum Record {
    /// The first line: where and with what this was measured.
    Machine(Machine),
    /// One metric of one variant.
    Measured(Measured),
    /// A variant that could not be run, or did not survive it.
    Missing(Missing),
}

/// One metric of one variant of one bench. Smaller is better.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name of the bench.
    pub bench: String,
    /// Name of the variant.
    pub variant: String,
    /// Worker threads that it had.
    pub workers: usize,
    /// What was measured.
    pub metric: String,
    /// In what.
    pub unit: String,
    /// Smallest of the runs.
    pub min: f64,
    /// Middle of the runs.
    pub median: f64,
    /// Number of runs.
    pub runs: usize,
}

/// Why there are no numbers.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Missing {
    /// Name of the bench.
    pub bench: String,
    /// Name of the variant.
    pub variant: String,
    /// Worker threads that it had.
    pub workers: usize,
    /// `true`: a tool it needs is not here. `false`: it was run and failed.
    pub skipped: bool,
    /// What happened.
    pub error: String,
}

impl Record {
    /// The line, without its end.
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
        };
        assert_eq!(
            Record::Measured(measured).line(),
            r#"{"bench":"ring","variant":"lamprey","workers":1,"metric":"hop","unit":"ns","min":9.5,"median":10.25,"runs":5}"#
        );
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
