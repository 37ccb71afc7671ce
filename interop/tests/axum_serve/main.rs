//! Applications of axum on Lamprey's workers.
//!
//! The clients are OS threads with sockets of the standard library, and hyper's client: nothing of the server's own code.

mod blocking;
mod client;
mod ends;
mod failures;
mod kinds;
mod tls;
mod workers;

use axum::Router;
use lamprey::net::TcpListener;
use lamprey::{JoinHandle, Runtime, oneshot};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The maximum time of what has to happen, on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A server on a host, and what stops it.
struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    host: JoinHandle<io::Result<()>>,
}

impl Server {
    fn start(runtime: &Runtime, app: Router) -> Self {
        Self::start_within(runtime, app, LIMIT)
    }

    /// `within`: for how long connections are waited for after the stop.
    fn start_within(runtime: &Runtime, app: Router, within: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, mut stopped) = oneshot::<()>();
        let told = async move {
            let _ = stopped.recv_async().await;
        };
        let serve =
            lamprey_compat::axum::serve(listener, app).with_graceful_shutdown(told).finish_within(within);
        Self { address, stop, host: runtime.handle().spawn(move || serve.run()) }
    }

    /// Tells it to stop; the host ends when all connections have.
    fn stop(self) -> JoinHandle<io::Result<()>> {
        self.stop.send(()).unwrap();
        self.host
    }

    fn end(self) {
        self.stop().join().unwrap().unwrap();
    }
}

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().unwrap()
}
