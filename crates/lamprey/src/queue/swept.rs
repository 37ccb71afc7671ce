//! A bag whose entries end on their own. Entries that have ended are removed now and then, so that its size
//! stays proportional to the number of live entries, at an amortised constant cost for each insertion.

/// A bag of entries that end on their own. It has no lock.
pub(crate) struct Swept<T> {
    entries: Vec<T>,
    /// The number of entries at which the bag is swept.
    sweep_at: usize,
}

/// The smallest number of entries that is swept.
const LEAST: usize = 16;

impl<T> Swept<T> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), sweep_at: LEAST }
    }

    /// Inserts `entry`; returns the entries that have been removed because they are over.
    pub(crate) fn push(&mut self, entry: T, mut is_over: impl FnMut(&T) -> bool) -> Vec<T> {
        self.entries.push(entry);
        if self.entries.len() < self.sweep_at {
            return Vec::new();
        }
        let over = self.entries.extract_if(.., |entry| is_over(entry)).collect();
        self.sweep_at = self.entries.len() * 2 + LEAST;
        over
    }

    /// Removes and returns all entries.
    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.entries)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_stays_in_proportion_to_those_that_have_not_ended() {
        let mut bag = Swept::new();
        let mut over = 0;
        for n in 0..10_000 {
            over += bag.push(n, |entry| entry % 100 != 0).len();
        }
        let left = bag.take();
        assert_eq!(over + left.len(), 10_000);
        assert_eq!(left.iter().filter(|&entry| entry % 100 == 0).count(), 100);
        assert!(left.len() <= 2 * 100 + LEAST, "{}", left.len());
        assert!(bag.take().is_empty());
    }
}
