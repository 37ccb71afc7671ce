//! [`DiskSettings`]: how fast a simulated disk is, how large, and how often it fails.

use std::ops::RangeInclusive;
use std::time::Duration;

/// How fast a simulated disk is, how large it is, and how often its calls fail.
///
/// A probability is that of one call, from 0 to 1. All of them are 0 unless they are set: a program that does not look at
/// errors of its disk passes. What is lost by a crash needs no setting.
///
/// # Examples
/// ```
/// use lamprey::{Runtime, fs, sim::DiskSettings};
/// let full = DiskSettings::new().capacity(1000);
/// let written = Runtime::simulated(3).disk(full).run(|| fs::write("/a", [0; 2000]));
/// assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
/// ```
#[derive(Debug, Clone)]
pub struct DiskSettings {
    pub(super) latency: RangeInclusive<Duration>,
    pub(super) sync_latency: RangeInclusive<Duration>,
    pub(super) capacity: u64,
    pub(super) open_errors: u32,
    pub(super) read_errors: u32,
    pub(super) write_errors: u32,
    pub(super) sync_errors: u32,
    pub(super) short: u32,
}

impl Default for DiskSettings {
    fn default() -> Self {
        Self {
            latency: Duration::from_micros(1)..=Duration::from_micros(200),
            sync_latency: Duration::from_micros(100)..=Duration::from_millis(10),
            capacity: u64::MAX,
            open_errors: 0,
            read_errors: 0,
            write_errors: 0,
            sync_errors: 0,
            short: 0,
        }
    }
}

/// Times in a million.
fn rate(probability: f64) -> u32 {
    assert!((0.0..=1.0).contains(&probability), "a probability is from 0 to 1, not {probability}");
    (probability * 1e6).round() as u32
}

/// Settings of a probability.
macro_rules! probabilities {
    ($($(#[$docs:meta])* $name:ident)*) => {
        $($(#[$docs])*
        ///
        /// # Panics
        /// If it is not from 0 to 1.
        pub fn $name(mut self, probability: f64) -> Self {
            self.$name = rate(probability);
            self
        })*
    };
}

impl DiskSettings {
    /// A disk without an end, on which nothing fails.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long each call takes that is no sync. Default: 1 to 200 µs.
    pub fn latency(mut self, takes: RangeInclusive<Duration>) -> Self {
        self.latency = takes;
        self
    }

    /// How long a sync takes. Default: 0.1 to 10 ms.
    pub fn sync_latency(mut self, takes: RangeInclusive<Duration>) -> Self {
        self.sync_latency = takes;
        self
    }

    /// The most bytes that all files together have. A write beyond it is a short one, or fails with `StorageFull`
    /// (ENOSPC).
    pub fn capacity(mut self, bytes: u64) -> Self {
        self.capacity = bytes;
        self
    }

    /// The probability of each of the four kinds of errors.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    pub fn errors(self, probability: f64) -> Self {
        self.open_errors(probability)
            .read_errors(probability)
            .write_errors(probability)
            .sync_errors(probability)
    }

    probabilities! {
        /// That an open fails with EIO.
        open_errors
        /// That a read, or a look at names or metadata, fails with EIO.
        read_errors
        /// That a write, a new length, or a change of names fails with EIO. It has had no effect.
        write_errors
        /// That a sync fails with EIO. As on Linux, what it was to write down counts as lost: some of it is on the disk, a
        /// later sync does not write the rest though it returns `Ok`, and reads return it until the machine fails. Only
        /// what is written again afterwards can be synced again.
        sync_errors
        /// That a read or a write transfers fewer bytes than it could.
        short
    }
}
