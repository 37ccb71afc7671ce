//! Minimum and median.
//!
//! The minimum is the cost of the code when nothing else runs; on a shared machine it is the number that
//! repeats. The median shows how busy the machine was.

/// The summary of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The smallest sample.
    pub min: f64,
    /// The middle sample, or the mean of the two middle ones.
    pub median: f64,
    /// The number of samples.
    pub runs: usize,
}

impl Summary {
    /// Summarises `samples`; `None` if there are none or one is not a number.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|s| s.is_nan()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Self { min: sorted[0], median: low.midpoint(high), runs: sorted.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_count_has_a_middle() {
        assert_eq!(Summary::of(&[3.0, 1.0, 2.0]), Some(Summary { min: 1.0, median: 2.0, runs: 3 }));
    }

    #[test]
    fn even_count_takes_the_mean_of_the_middle() {
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 9.0]), Some(Summary { min: 1.0, median: 3.0, runs: 4 }));
    }

    #[test]
    fn one_sample_is_both() {
        assert_eq!(Summary::of(&[7.5]), Some(Summary { min: 7.5, median: 7.5, runs: 1 }));
    }

    #[test]
    fn nothing_and_not_a_number_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
    }
}
