//! axum with one route that answers with JSON.

use super::ours;
use crate::rivals::tokio_axum;
use crate::work::app::{ANSWER, PATH, app};
use crate::work::http::{Server, under_load};
use ::axum::Router;
use anyhow::Result;
use bench_harness::{Bench, Runner, Size, Variant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "axum",
    about: "GET /users/7 over 64 keep-alive connections of wrk, answered with 40 bytes of JSON; as `http`",
    workers: &[1, 2],
    size: Size::Kept { full: 3, quick: 1, tiny: 1 },
    runs: 7,
    variants: &[
        Variant::ours_around("lamprey", "wrk", json).io("epoll"),
        Variant::ours_around("lamprey-uring", "wrk", json).io("uring"),
        Variant::rival_around("tokio", "wrk", tokio_axum::json),
    ],
};

fn json(workers: usize) -> Result<Runner> {
    under_load(workers, PATH, ANSWER, || serve(workers, app()))
}

/// By `lamprey_compat::axum::serve`.
pub fn serve(workers: usize, app: Router) -> Result<Server<lamprey::Runtime>> {
    ours::start(workers, move |listener| {
        lamprey_compat::axum::serve(listener, app).run().expect("it serves for ever");
    })
}
