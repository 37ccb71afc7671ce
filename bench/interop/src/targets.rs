//! Lamprey's target figures, which the measured ones are compared with.

use bench_harness::targets::Bound::Times;
use bench_harness::targets::{Target, target};

/// All of them.
pub const TARGETS: [Target; 6] = [
    target("http", "hosts", 1, "request", Times(1.0 / 1.3, "tokio", 1)),
    target("http", "hosts", 2, "request", Times(1.0 / 1.3, "tokio", 2)),
    target("tokio_sync", "hosts", 1, "each", Times(1.0, "tokio", 1)),
    target("tokio_sync", "hosts", 2, "each", Times(1.0, "tokio", 2)),
    target("tokio_sync", "parasites", 1, "wait", Times(1.0, "tokio", 1)),
    target("tokio_sync", "parasites", 2, "wait", Times(1.0, "tokio", 2)),
];
