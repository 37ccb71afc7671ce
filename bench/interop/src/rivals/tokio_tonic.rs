//! tonic on tokio: by its own server, and by axum's.

use super::{serve, tokio_axum};
use crate::work::grpc::Echo;
use crate::work::h2load::under_load;
use anyhow::Result;
use bench_harness::Runner;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// tonic's own server.
pub fn by_transport(workers: usize) -> Result<Runner> {
    under_load(workers, || {
        serve(workers, |listener| async {
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            Server::builder()
                .add_service(Echo)
                .serve_with_incoming(incoming)
                .await
                .expect("it serves for ever");
        })
    })
}

/// The routes alone, as on Lamprey.
pub fn by_axum(workers: usize) -> Result<Runner> {
    under_load(workers, || tokio_axum::by_axum(workers, Routes::new(Echo).into_axum_router()))
}
