//! The accept loop: the body of the server's scope, in which each connection is a host.
//!
//! Invariants:
//! * Only a stop ends the loop. While the process has no descriptors left, or as many connections are open as
//!   the limit allows, new connections wait in the kernel's queue; this is reported every [`REPEAT`].
//! * A connection holds its permit from before its acceptance until its socket is closed.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lamprey::event::{Event, prefer};
use lamprey::net::{TcpListener, TcpStream};
use lamprey::sync::{Semaphore, SemaphorePermit};
use lamprey::{Builder, CancelToken, Scope, TimedOut, with_timeout};

use crate::conn;
use crate::load::WorkerLoad;
use crate::notice::notice;
use crate::open::OpenStreams;
use crate::service::Service;

/// How often a condition that lasts is reported.
const REPEAT: Duration = Duration::from_secs(10);

/// What the connections of a server take a share of.
pub(crate) struct Capacity {
    /// One permit for each connection.
    pub(crate) permits: Semaphore,
    pub(crate) load: WorkerLoad,
}

/// Accepts until the server stops, and starts a host in `scope` for each connection. Returns the connections
/// that are still open.
pub(crate) fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    listener: &TcpListener,
    service: &'scope Service,
    capacity: &'scope Capacity,
) -> OpenStreams {
    let (mut open, mut reports) = (OpenStreams::new(), Reports::default());
    while let Some(permit) = acquire(service, &capacity.permits, &mut reports) {
        let Some((stream, addr)) = accept(listener, &service.stop, &mut reports) else { break };
        let stream = Arc::new(stream);
        open.add(&stream);
        let placement = capacity.load.place();
        let host = Builder::new().worker(placement.worker());
        let serve = move || {
            // Dropped from the last to the first: the socket is closed before the permit is free.
            let (_permit, _placement, stream) = (permit, placement, stream);
            conn::serve(service, &stream, addr);
        };
        // The handle is dropped: the scope waits for the host, and a panic of it is reported.
        if let Err(error) = scope.spawn_with(host, serve) {
            reports.refused(&error);
        }
    }
    open
}

/// A permit for one connection; `None` when the server stops.
fn acquire<'a>(
    service: &Service,
    permits: &'a Semaphore,
    reports: &mut Reports,
) -> Option<SemaphorePermit<&'a Semaphore>> {
    let next = || prefer((service.stop.wait_evt().wrap(|()| None), permits.acquire_evt(1).wrap(Result::ok)));
    if let Some(permit) = next().poll() {
        return permit;
    }
    loop {
        let limit = service.limits.connections;
        reports.say(&format!("{limit} connections are open, which is the limit: new ones wait"));
        if let Some(permit) = next().sync_timeout(REPEAT) {
            return permit;
        }
    }
}

/// The next connection; `None` when the server stops, which closes the listener.
fn accept(
    listener: &TcpListener,
    stop: &CancelToken,
    reports: &mut Reports,
) -> Option<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept() {
            Ok(connection) => return Some(connection),
            Err(_) if stop.is_cancelled() => return None,
            // The peer gave up while it waited in the queue.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => reports.refused(&error),
        }
        // With back-off: it tries again, less and less often.
        match with_timeout(REPEAT, || listener.accept_with_backoff()) {
            Ok(Ok(connection)) => return Some(connection),
            Ok(Err(_)) => {
                // The listener cannot be used any more, usually because the stop has closed it.
                stop.wait();
                return None;
            }
            Err(TimedOut) => {}
        }
    }
}

/// Reports why new connections wait, at most once in [`REPEAT`].
#[derive(Default)]
struct Reports {
    last: Option<Instant>,
}

impl Reports {
    fn refused(&mut self, error: &io::Error) {
        self.say(&format!("cannot take a connection: {error}; new ones wait"));
    }

    fn say(&mut self, what: &str) {
        let now = lamprey::sim::now();
        if self.last.is_none_or(|last| now.saturating_duration_since(last) >= REPEAT) {
            notice(what);
            self.last = Some(now);
        }
    }
}
