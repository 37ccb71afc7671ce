//! The rivals: the same libraries on tokio, and Go.

pub mod go_http;
pub mod tokio_axum;
pub mod tokio_hyper;
pub mod tokio_sync;
pub mod tokio_tls;
pub mod tokio_tonic;

use crate::work::http::Server;
use ::tokio::runtime::{Builder, Handle, Runtime};
use anyhow::Result;
use std::thread;

/// tokio's runtime: `current_thread` for one worker, `multi_thread` for more.
pub fn runtime(workers: usize) -> Result<Runtime> {
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    // `current_thread` ignores the number.
    Ok(builder.worker_threads(workers).enable_all().build()?)
}

/// Starts a runtime that runs the server which `start` makes of a listener, for ever.
pub fn serve<F: Future<Output = ()> + Send + 'static>(
    workers: usize,
    start: impl FnOnce(::tokio::net::TcpListener) -> F,
) -> Result<Server<Handle>> {
    let runtime = runtime(workers)?;
    let handle = runtime.handle().clone();
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let entered = runtime.enter();
    let server = start(::tokio::net::TcpListener::from_std(listener)?);
    runtime.spawn(server);
    drop(entered);
    // `current_thread` has no thread of its own: this one is lent to it.
    thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    Ok(Server { lives: handle, address, process: None })
}
