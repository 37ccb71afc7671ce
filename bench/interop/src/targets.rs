//! Lamprey's target figures, which the measured ones are compared with.

use bench_harness::targets::Bound::Times;
use bench_harness::targets::{Target, target};

/// All of them.
pub const TARGETS: [Target; 24] = [
    target("http", "hosts", 1, "request", Times(1.0 / 1.3, "tokio", 1)),
    target("http", "hosts", 2, "request", Times(1.0 / 1.3, "tokio", 2)),
    target("http", "lamprey", 1, "request", Times(1.0 / 1.1, "tokio", 1)),
    target("http", "lamprey", 2, "request", Times(1.0 / 1.1, "tokio", 2)),
    target("http", "lamprey", 1, "p99", Times(1.0, "tokio", 1)),
    target("http", "lamprey", 2, "p99", Times(1.0, "tokio", 2)),
    target("axum", "lamprey", 1, "request", Times(1.0, "tokio", 1)),
    target("axum", "lamprey", 2, "request", Times(1.0, "tokio", 2)),
    target("tonic", "lamprey", 1, "call_1", Times(1.0, "tokio", 1)),
    target("tonic", "lamprey", 2, "call_1", Times(1.0, "tokio", 2)),
    target("tonic", "lamprey", 1, "call_16", Times(1.0, "tokio", 1)),
    target("tonic", "lamprey", 2, "call_16", Times(1.0, "tokio", 2)),
    target("tls_bulk", "hosts", 1, "send", Times(1.0, "tokio", 1)),
    target("tls_bulk", "hosts", 1, "receive", Times(1.0, "tokio", 1)),
    target("tls_bulk", "parasites", 1, "send", Times(1.0, "tokio", 1)),
    target("tls_bulk", "parasites", 1, "receive", Times(1.0, "tokio", 1)),
    target("tls_handshakes", "hosts", 1, "handshake", Times(1.0, "tokio", 1)),
    target("tls_handshakes", "parasites", 1, "handshake", Times(1.0, "tokio", 1)),
    target("tls_handshakes", "hosts", 2, "handshake", Times(1.0, "tokio", 2)),
    target("tls_handshakes", "parasites", 2, "handshake", Times(1.0, "tokio", 2)),
    target("tokio_sync", "hosts", 1, "each", Times(1.0, "tokio", 1)),
    target("tokio_sync", "hosts", 2, "each", Times(1.0, "tokio", 2)),
    target("tokio_sync", "parasites", 1, "wait", Times(1.0, "tokio", 1)),
    target("tokio_sync", "parasites", 2, "wait", Times(1.0, "tokio", 2)),
];
