//! How many yield.

/// Threads that take turns.
pub const HOSTS: u64 = 500;
