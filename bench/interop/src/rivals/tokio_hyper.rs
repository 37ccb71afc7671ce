//! hyper on tokio: a task for each connection.

use super::serve;
use crate::work::http::{HELLO, TEXT, under_load};
use anyhow::Result;
use bench_harness::Runner;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;

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

/// The answer to each request.
pub async fn respond(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(HELLO.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(TEXT));
    Ok(response)
}
