//! tokio-rustls: a task for each connection.

use super::serve;
use crate::work::http::Server;
use crate::work::tls::{self, obey_async};
use anyhow::Result;
use tokio::runtime::Handle;
use tokio_rustls::TlsAcceptor;

/// The server.
pub fn server(workers: usize) -> Result<Server<Handle>> {
    let acceptor = TlsAcceptor::from(tls::server()?);
    serve(workers, |listener| async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // An error is a client that went away.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let _ = obey_async(stream).await;
            });
        }
    })
}
