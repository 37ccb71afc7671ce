//! The benches, one in each file: what one operation is, Lamprey's version of it, and the rivals' versions.

pub mod blocking_http;
pub mod http;
pub mod ours;
pub mod tokio_sync;

use bench_harness::Bench;

/// All benches.
pub const ALL: [&Bench; 2] = [&http::BENCH, &tokio_sync::BENCH];
