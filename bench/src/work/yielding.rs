//! The number of yielding threads.

/// The threads that take turns.
pub const HOSTS: u64 = 500;
