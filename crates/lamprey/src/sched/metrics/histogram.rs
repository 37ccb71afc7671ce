//! [`Buckets`]: how many values of each size a worker has seen; [`Histogram`]: a copy of them.
//!
//! A bucket is a quarter of the distance from one power of two to the next (as in HdrHistogram with two significant bits), so a value is
//! known to a fifth at worst.
//!
//! Invariant: one kernel thread adds. The buckets, and their sum, are not of one moment for who reads beside it.

use crate::sched::stats::Counter;
use std::time::Duration;

/// Parts of each power of two, as a power of two.
const PARTS: u32 = 2;
/// Values from 2 to this power on are in the last bucket: 18 minutes, in nanoseconds.
const MOST: u32 = 40;
const BUCKETS: usize = ((MOST - PARTS + 1) << PARTS) as usize + 1;

/// The bucket of a value.
fn bucket_of(value: u64) -> usize {
    let Some(above) = (value | 1).ilog2().checked_sub(PARTS) else { return value as usize };
    let at = (u64::from(above) << PARTS) + (value >> above);
    (at as usize).min(BUCKETS - 1)
}

/// The least value of a bucket.
fn least_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let Some(above) = (bucket >> PARTS).checked_sub(1) else { return bucket };
    ((bucket & ((1 << PARTS) - 1)) + (1 << PARTS)) << above
}

/// Values that one worker has counted.
#[derive(Debug)]
pub(in crate::sched) struct Buckets {
    counts: [Counter; BUCKETS],
    sum: Counter,
    largest: Counter,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { counts: [const { Counter::new() }; BUCKETS], sum: Counter::new(), largest: Counter::new() }
    }
}

impl Buckets {
    /// Counts a value. Called by the worker's kernel thread only.
    pub(in crate::sched) fn add(&self, value: u64) {
        self.counts[bucket_of(value)].add(1);
        self.sum.add(value);
        self.largest.raise_to(value);
    }

    pub(super) fn copy(&self) -> Histogram {
        let counts = self.counts.each_ref().map(Counter::get);
        Histogram { counts: counts.into(), sum: self.sum.get(), largest: self.largest.get() }
    }
}

/// How often values of each size have come: times in nanoseconds, or lengths of queues ([`metrics`](crate::inspect::metrics)).
///
/// Each value is kept as one of four ranges between two powers of two, so it is known to within a fifth, but for the
/// sum and the largest one, which are exact.
///
/// # Examples
/// ```
/// # let runtime = lamprey::Runtime::builder().workers(1).build()?;
/// runtime.run(|| lamprey::spawn(|| ()).join().unwrap());
/// let metrics = runtime.metrics();
/// let delays = metrics.workers[0].spawn_to_run.clone();
/// println!("{} new threads, half of them ran within {:?}", delays.count(), delays.quantile_time(0.5));
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    sum: u64,
    largest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS].into(), sum: 0, largest: 0 }
    }
}

impl Histogram {
    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all values.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The largest value; 0 if there is none.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// The mean; 0 if there is no value.
    pub fn mean(&self) -> f64 {
        let count = self.count();
        if count == 0 { 0.0 } else { self.sum as f64 / count as f64 }
    }

    /// A value that is not below `share` of all values (0.5: the median; 0.99: one in a hundred is larger), and at most a quarter too
    /// large; 0 if there is no value.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut below = 0;
        for (upper, count) in self.buckets() {
            below += count;
            if below >= rank {
                return upper.min(self.largest);
            }
        }
        self.largest
    }

    /// As [`quantile`](Self::quantile), of times.
    pub fn quantile_time(&self, share: f64) -> Duration {
        Duration::from_nanos(self.quantile(share))
    }

    /// The ranges in which there are values, the smallest first: the largest value that belongs to each, and how many there are. The last
    /// one of all has no end (`u64::MAX`).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count != 0);
        all.map(|(at, count)| (if at + 1 == BUCKETS { u64::MAX } else { least_of(at + 1) - 1 }, *count))
    }

    /// How many values are at most `value`; those of the range in which it lies count if it is the range's last.
    pub fn count_up_to(&self, value: u64) -> u64 {
        self.buckets().take_while(|(upper, _)| *upper <= value).map(|(_, count)| count).sum()
    }

    /// Takes in the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.sum = self.sum.wrapping_add(other.sum);
        self.largest = self.largest.max(other.largest);
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Histogram");
        fields.field("count", &self.count()).field("sum", &self.sum).field("largest", &self.largest);
        fields.field("buckets", &self.buckets().collect::<Vec<_>>()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_in_the_bucket_that_begins_before_it() {
        for power in 0..MOST {
            for near in [-1_i64, 0, 1] {
                let value = (1_u64 << power).wrapping_add_signed(near).min((1 << MOST) - 1);
                let bucket = bucket_of(value);
                assert!(least_of(bucket) <= value && value < least_of(bucket + 1), "{value} in {bucket}");
            }
        }
        assert_eq!((bucket_of(u64::MAX), bucket_of(1 << MOST)), (BUCKETS - 1, BUCKETS - 1));
    }

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        for bucket in 1..BUCKETS - 1 {
            let (least, next) = (least_of(bucket), least_of(bucket + 1));
            assert!(least < next && (next - least == 1 || (next - least) * 4 <= least));
            assert_eq!((bucket_of(least), bucket_of(next - 1)), (bucket, bucket));
        }
    }

    #[test]
    fn what_is_read_is_what_was_added() {
        let (first, second) = (Buckets::default(), Buckets::default());
        (0..1000).for_each(|value| first.add(value));
        (1000..2000).for_each(|value| second.add(value));
        let mut both = first.copy();
        both.merge(&second.copy());
        assert_eq!((both.count(), both.sum(), both.largest()), (2000, 1999 * 1000, 1999));
        let median = both.quantile(0.5);
        assert!((999..=1249).contains(&median), "{median}");
        assert_eq!((both.quantile(1.0), both.quantile(0.0)), (1999, 0));
        assert_eq!(both.count_up_to(u64::MAX), 2000);
        assert_eq!(both.count_up_to(1023), 1024);
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }
}
