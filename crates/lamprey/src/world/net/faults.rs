//! [`Faults`]: a network that fails by itself, as chance has it.

use super::link::Link;
use std::time::Duration;

/// Faults that the simulated network has by chance, between different machines: what a [`Link`] can have, and partitions
/// that heal, and connections that are reset.
///
/// They happen to traffic: where nothing is sent, nothing fails. Each is a draw of the run's seed, so that a run that fails
/// is repeated, and shrunk to the faults that it needs.
///
/// # Examples
/// ```
/// use lamprey::{Runtime, sim::{self, Faults}};
/// Runtime::simulated(1).run(|| {
///     sim::network().set_faults(Faults::harsh());
///     // ...
///     sim::network().set_faults(Faults::none());
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "faults happen once they are given to the network"]
pub struct Faults {
    pub(super) link: Link,
    /// In a million of the segments and datagrams.
    pub(super) partitions: u32,
    pub(super) resets: u32,
    /// The longest partition.
    pub(super) heals_within: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        Self::none()
    }
}

impl Faults {
    /// The network is as its links are.
    pub const fn none() -> Self {
        Self { link: Link::perfect(), partitions: 0, resets: 0, heals_within: Duration::ZERO }
    }

    /// What every program meets: up to 5 ms of latency, a loss, a duplicate or a late datagram in a hundred, a partition of
    /// up to a second in 2,000 segments, a reset in 5,000.
    pub fn mild() -> Self {
        let link = Link::new().latency(Duration::ZERO..=Duration::from_millis(5));
        let link = link.loss(0.01).duplication(0.01).reordering(0.01).fragmentation(0.2);
        Self { link, partitions: 500, resets: 200, heals_within: Duration::from_secs(1) }
    }

    /// A bad day: up to 50 ms of latency, a tenth lost, a tenth late, half of all pieces in fragments, a partition of up to a
    /// minute in 100 segments, a reset in 100.
    pub fn harsh() -> Self {
        let link = Link::new().latency(Duration::ZERO..=Duration::from_millis(50));
        let link = link.loss(0.1).duplication(0.1).reordering(0.1).fragmentation(0.5);
        Self { link, partitions: 10_000, resets: 10_000, heals_within: Duration::from_secs(60) }
    }

    /// The probability, for each segment and datagram, that its two machines are partitioned, for at most `heals_within`: in
    /// its direction, or in both.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    pub fn partitions(mut self, probability: f64, heals_within: Duration) -> Self {
        self.partitions = super::link::in_a_million("partitions", probability);
        self.heals_within = heals_within.min(super::link::LONGEST);
        self
    }

    /// The probability, for each segment, that its connection is reset.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    pub fn resets(mut self, probability: f64) -> Self {
        self.resets = super::link::in_a_million("resets", probability);
        self
    }
}
