//! `axum::serve` on tokio.

use super::serve;
use crate::work::app::{ANSWER, PATH, app};
use crate::work::http::{Server, under_load};
use anyhow::Result;
use axum::Router;
use axum::serve::ListenerExt;
use bench_harness::Runner;
use tokio::runtime::Handle;

/// The application of `axum`.
pub fn json(workers: usize) -> Result<Runner> {
    under_load(workers, PATH, ANSWER, || by_axum(workers, app()))
}

/// Starts any application.
pub fn by_axum(workers: usize, app: Router) -> Result<Server<Handle>> {
    serve(workers, |listener| async {
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a TCP socket"));
        axum::serve(listener, app).await.expect("it serves for ever");
    })
}
