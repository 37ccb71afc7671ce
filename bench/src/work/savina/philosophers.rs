//! The table of the bench `savina_philosophers`.

use super::Work;

/// The philosophers, and the forks.
pub const SEATS: usize = 20;

/// One operation is a meal. Each of its two forks counts it.
pub const WORK: Work = Work { metric: "meal", step: SEATS as u64, checksum: |n| 2 * n };

/// Meals of each philosopher.
pub fn each(meals: u64) -> u64 {
    meals / SEATS as u64
}

/// The forks at a seat, in the order in which they are taken: the same order for all, so none waits in a
/// circle.
pub fn forks(seat: usize) -> (usize, usize) {
    let (left, right) = (seat, (seat + 1) % SEATS);
    (left.min(right), left.max(right))
}
