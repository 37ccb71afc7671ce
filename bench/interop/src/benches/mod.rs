//! The benches, one in each file: what one operation is, Lamprey's version of it, and the rivals' versions.

pub mod axum;
pub mod blocking_http;
pub mod http;
pub mod ours;
pub mod tls;
pub mod tokio_sync;
pub mod tonic;

use bench_harness::Bench;

/// All benches.
pub const ALL: [&Bench; 6] =
    [&http::BENCH, &axum::BENCH, &tonic::BENCH, &tls::BULK, &tls::HANDSHAKES, &tokio_sync::BENCH];
