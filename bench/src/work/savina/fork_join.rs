//! The sizes of the benches `savina_fork_join_*`.

use super::{Work, sum_below};

/// Threads that are started at a time.
pub const CREATED: u64 = 40_000;

/// One operation is a thread, which returns its number.
pub const CREATE: Work =
    Work { metric: "thread", step: CREATED, checksum: |n| n / CREATED * sum_below(CREATED) };

/// Threads that receive messages.
pub const RECEIVERS: u64 = 60;
/// The places of the queue of each.
pub const PLACES: usize = 64;

/// One operation is a message. Each receiver gets the numbers from 0 on, and adds them up.
pub const THROUGHPUT: Work =
    Work { metric: "message", step: RECEIVERS, checksum: |n| RECEIVERS * sum_below(n / RECEIVERS) };
