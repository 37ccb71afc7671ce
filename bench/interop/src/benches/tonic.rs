//! A unary call of gRPC.

use super::axum::serve;
use crate::rivals::tokio_tonic;
use crate::work::grpc::Echo;
use crate::work::h2load::under_load;
use ::tonic::service::Routes;
use anyhow::Result;
use bench_harness::{Bench, Runner, Size, Variant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "tonic",
    about: "a unary call that echoes 96 bytes, by h2load: _1, 32 calls under way on one connection; _16, 4 on each of 16; ns of wall time \
            for each call; cpu: the server's processor time; client: % of the time that h2load computed",
    workers: &[1, 2],
    size: Size::Kept { full: 3, quick: 1, tiny: 1 },
    runs: 7,
    variants: &[
        Variant::ours_around("lamprey", "h2load", echo).io("epoll"),
        Variant::ours_around("lamprey-uring", "h2load", echo).io("uring"),
        Variant::rival_around("tokio", "h2load", tokio_tonic::by_transport),
        Variant::rival_around("tokio-axum", "h2load", tokio_tonic::by_axum),
    ],
};

/// As `axum`: tonic's routes are an application of axum.
fn echo(workers: usize) -> Result<Runner> {
    under_load(workers, || serve(workers, Routes::new(Echo).into_axum_router()))
}
