//! The shop of the bench `savina_barber`.

use super::{Work, sum_below};

/// The chairs of the waiting room.
pub const CHAIRS: usize = 1000;
/// Customers on one day.
pub const CUSTOMERS: u64 = 5000;

/// One operation is a customer, who is given the number of the haircut on its day.
pub const WORK: Work =
    Work { metric: "haircut", step: CUSTOMERS, checksum: |n| n / CUSTOMERS * sum_below(CUSTOMERS) };
