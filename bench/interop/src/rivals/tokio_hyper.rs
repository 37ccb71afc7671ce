//! hyper on tokio: a task for each connection.

use super::serve;
use crate::work::http::{HELLO, respond, under_load};
use anyhow::Result;
use bench_harness::Runner;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

/// The server.
pub fn hello(workers: usize) -> Result<Runner> {
    under_load(workers, "/", HELLO, || {
        serve(workers, |listener| async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let io = TokioIo::new(stream);
                tokio::spawn(async move {
                    // An error is a client that went away.
                    let _ = http1::Builder::new().serve_connection(io, service_fn(respond)).await;
                });
            }
        })
    })
}
