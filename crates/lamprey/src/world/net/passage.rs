//! What happens to a segment or a datagram on a [`Link`], as chance has it.

use super::link::Link;
use crate::world::Chance;
use std::time::Duration;

/// After how long what was lost is sent again, the first time; each further time takes twice as long.
const FIRST_RETRY: Duration = Duration::from_millis(200);
/// The longest such pause.
const LONGEST_RETRY: Duration = Duration::from_secs(5);
/// The most losses of one segment by chance.
const MOST_LOSSES: u32 = 5;

impl Link {
    /// How long the way takes.
    pub(super) fn delay(&self, chance: &Chance) -> Duration {
        let (least, most) = self.latency;
        let more = match chance.happens(self.reordering) {
            true => chance.between(Duration::ZERO, most * 10),
            false => Duration::ZERO,
        };
        chance.between(least, most) + more
    }

    /// How often a segment is lost before it arrives.
    pub(super) fn losses(&self, chance: &Chance) -> u32 {
        (0..MOST_LOSSES).take_while(|_| chance.happens(self.loss)).count() as u32
    }

    pub(super) fn loses(&self, chance: &Chance) -> bool {
        chance.happens(self.loss)
    }

    pub(super) fn duplicates(&self, chance: &Chance) -> bool {
        chance.happens(self.duplication)
    }

    /// How many of `bytes` go at once; all of them, mostly.
    pub(super) fn piece(&self, chance: &Chance, bytes: usize) -> usize {
        if bytes > 1 && chance.happens(self.fragmentation) {
            return bytes - chance.below(u32::try_from(bytes).unwrap_or(u32::MAX)) as usize;
        }
        bytes
    }

    /// How long the link is busy with so many bytes.
    pub(super) fn takes(&self, bytes: usize) -> Duration {
        self.bandwidth.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate as f64))
    }

    /// Adds what is worse in `other`.
    pub(super) fn worsened(mut self, other: &Self) -> Self {
        self.latency.1 = self.latency.1.max(other.latency.1);
        self.loss = self.loss.max(other.loss);
        self.duplication = self.duplication.max(other.duplication);
        self.reordering = self.reordering.max(other.reordering);
        self.fragmentation = self.fragmentation.max(other.fragmentation);
        self
    }
}

/// The pause before the `tries`-th repetition.
pub(super) fn retry_after(tries: u32) -> Duration {
    FIRST_RETRY.saturating_mul(1 << tries.min(10)).min(LONGEST_RETRY)
}
