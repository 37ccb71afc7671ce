//! hyper's hello world over HTTP/1.1, and a server of plain blocking code beside it.

use super::{blocking_http, ours};
use crate::rivals::{go_http, tokio_hyper};
use crate::work::http::{HELLO, respond, under_load};
use ::hyper::server::conn::http1;
use ::hyper::service::service_fn;
use anyhow::Result;
use bench_harness::{Bench, Runner, Size, Variant};
use lamprey_compat::Async;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "http",
    about: "GET / over 64 keep-alive connections of wrk, answered with 13 bytes; ns of wall time for each request, and us until the \
            answer; client: % of the time that wrk computed",
    workers: &[1, 2],
    size: Size::Kept { full: 3, quick: 1, tiny: 1 },
    runs: 7,
    variants: &[
        Variant::ours_around("lamprey", "wrk", hyper).io("epoll"),
        Variant::ours_around("lamprey-uring", "wrk", hyper).io("uring"),
        Variant::ours_around("hosts", "wrk", hosts).io("epoll"),
        Variant::ours_around("hosts-uring", "wrk", hosts).io("uring"),
        Variant::ours_around("hosts-ahead", "wrk", hosts_ahead).io("uring"),
        Variant::rival_around("tokio", "wrk", tokio_hyper::hello),
        Variant::rival_around("go", "go", go_http::hello),
    ],
};

/// A parasite for each connection.
fn hyper(workers: usize) -> Result<Runner> {
    under_load(workers, "/", HELLO, || {
        ours::serve(workers, |stream| {
            let connection = http1::Builder::new().serve_connection(Async::new(stream), service_fn(respond));
            lamprey::parasite(async {
                // An error is a client that went away.
                let _ = connection.await;
            })
            .detach();
        })
    })
}

/// The kernel receives before it is asked.
fn hosts_ahead(workers: usize) -> Result<Runner> {
    under_load(workers, "/", HELLO, || {
        ours::serve(workers, |stream| {
            stream.set_read_ahead(true);
            drop(lamprey::spawn(move || blocking_http::serve(&stream)));
        })
    })
}

fn hosts(workers: usize) -> Result<Runner> {
    under_load(workers, "/", HELLO, || {
        ours::serve(workers, |stream| drop(lamprey::spawn(move || blocking_http::serve(&stream))))
    })
}
