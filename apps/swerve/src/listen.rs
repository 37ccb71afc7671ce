//! The body of the server's scope, in which each connection is a host.
//!
//! Invariant: a connection counts as open from before its acceptance until its socket is closed.

use std::io;
use std::sync::Arc;

use lamprey::Scope;
use lamprey::net::TcpListener;
use lamprey::sync::Semaphore;

use crate::conn;
use crate::notice::notice;
use crate::open::OpenStreams;
use crate::service::Service;

/// The connections that are open.
pub(crate) struct Open {
    pub(crate) streams: OpenStreams,
    /// One permit for each connection that may be. A connection holds its own, so all are free when all have ended.
    pub(crate) permits: Arc<Semaphore>,
}

/// Accepts until the server stops, and starts a host in `scope` for each connection.
pub(crate) fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    listener: &TcpListener,
    service: &'scope Service,
    open: &'scope Open,
) -> io::Result<()> {
    let serving = listener.serving().limit(service.limits.connections).share_limit(&open.permits);
    let serving = serving.until(&service.stop).on_held_up(|why| notice(&why.to_string()));
    serving.serve(scope, |stream, addr| {
        let stream = Arc::new(stream);
        open.streams.add(&stream);
        conn::serve(service, &stream, addr);
    })
}
