//! Swerve's tests of requests and their answers, of the server in `examples/trace_server.rs`.

#[path = "../examples/trace_server.rs"]
mod trace_server;

#[allow(dead_code, reason = "Swerve's other tests use the rest")]
#[path = "../apps/swerve/tests/common/client.rs"]
mod client;

#[path = "../apps/swerve/tests/common/heads.rs"]
mod heads;

#[path = "../apps/swerve/tests/common/preconditions.rs"]
mod preconditions;

#[path = "../apps/swerve/tests/common/requests.rs"]
mod requests;

/// The server, for the tests of requests.
mod common {
    use crate::client;
    use crate::trace_server::{Scheduler, Site, serve, session};
    use std::net::TcpListener;
    use std::sync::Arc;

    pub use crate::client::{Place, noise};

    /// A server that runs until the process ends.
    pub fn site() -> Place {
        let temp = client::folder();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (addr, site) = (listener.local_addr().unwrap(), Site::open(&temp.path().join("site")).unwrap());
        std::thread::spawn(|| {
            Scheduler::run(2, serve(listener, move |stream| session(Arc::clone(&site), stream)))
        });
        Place { addr, temp }
    }
}
