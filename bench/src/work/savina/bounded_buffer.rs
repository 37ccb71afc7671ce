//! The sizes of the bench `savina_bounded_buffer`.

use super::{Work, sum_below};

/// Threads that fill the buffer.
pub const PRODUCERS: u64 = 40;
/// Threads that empty it.
pub const CONSUMERS: u64 = 40;
/// The places of the buffer.
pub const PLACES: usize = 50;

/// One operation is an item: each producer makes the numbers from 0 on, the consumers add them up.
pub const WORK: Work =
    Work { metric: "item", step: PRODUCERS, checksum: |n| PRODUCERS * sum_below(n / PRODUCERS) };
