//! What has been reported: each place once, and once more if it lasts.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Most places that are remembered, and so reported.
const MOST: usize = 256;
/// What lasts for so long is said once more: a place where a thread has computed for a moment may be where it later
/// never comes back from.
const LASTING: Duration = Duration::from_secs(10);

/// Why something is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Why {
    /// Something waits for the worker.
    Awaited,
    /// It may wait for a lock of one of its own threads.
    MayHaveTheLock,
    /// It does not answer.
    Silent,
}

/// The keys of what has been reported.
#[derive(Debug, Default)]
pub(super) struct Said(HashSet<u64>);

impl Said {
    /// True for the first time at this place, and for the first time after a thread has stayed there for long.
    pub(super) fn is_new(&mut self, why: Why, place: &impl Hash, held: Duration) -> bool {
        self.add(&(why, held >= LASTING, place))
    }

    /// As [`is_new`](Self::is_new), for a worker that does not answer.
    pub(super) fn is_new_silence(&mut self, worker: usize) -> bool {
        self.add(&(Why::Silent, worker))
    }

    fn add(&mut self, key: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.0.len() < MOST && self.0.insert(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_said_once_and_once_more_if_it_lasts() {
        let mut said = Said::default();
        let mut is_new = |why, place, seconds| said.is_new(why, &place, Duration::from_secs(seconds));
        assert!(is_new(Why::Awaited, 1, 0) && !is_new(Why::Awaited, 1, 9));
        assert!(is_new(Why::Awaited, 1, 10) && !is_new(Why::Awaited, 1, 99));
        assert!(is_new(Why::Awaited, 2, 0) && is_new(Why::MayHaveTheLock, 1, 0));
        assert!(!is_new(Why::Awaited, 2, 0) && !is_new(Why::MayHaveTheLock, 1, 0));
        assert!(said.is_new_silence(1) && !said.is_new_silence(1));
    }

    #[test]
    fn what_has_many_places_is_not_reported_for_ever() {
        let mut said = Said::default();
        let reported = (0..10 * MOST).filter(|place| said.is_new(Why::Awaited, place, Duration::ZERO));
        assert_eq!(reported.count(), MOST);
    }
}
