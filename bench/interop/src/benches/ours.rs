//! A runtime of Lamprey that serves.

use crate::work::http::Server;
use anyhow::Result;
use lamprey::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// A runtime, started as a user would start it.
pub fn runtime(workers: usize) -> Result<lamprey::Runtime> {
    Ok(lamprey::Runtime::builder().workers(workers).build()?)
}

/// Starts a runtime with a host that serves, for ever.
pub fn start(
    workers: usize,
    serve: impl FnOnce(TcpListener) + Send + 'static,
) -> Result<Server<lamprey::Runtime>> {
    let runtime = runtime(workers)?;
    let (says, address) = mpsc::channel();
    runtime.run(|| {
        lamprey::spawn(move || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            says.send(listener.local_addr().expect("it is bound")).expect("the bench waits for it");
            serve(listener);
        });
    });
    Ok(Server { lives: runtime, address: address.recv()?, process: None })
}

/// Starts a runtime with a host that accepts connections, for ever, and gives each to `accepted`.
pub fn serve(
    workers: usize,
    accepted: impl Fn(TcpStream) + Send + 'static,
) -> Result<Server<lamprey::Runtime>> {
    start(workers, move |listener| {
        for stream in listener.incoming() {
            let stream = stream.expect("it is accepted");
            stream.set_nodelay(true).expect("a TCP socket");
            accepted(stream);
        }
    })
}
