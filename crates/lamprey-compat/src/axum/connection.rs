//! What the connections of a server share, the parasite of a connection, and what ends it.
//!
//! A connection ends by itself (the peer has gone, or it was idle for longer than the time for a request's headers); when the server
//! stops, after the answer that is under way (`stop`); or at once (`cut`). It is a member of `open` until its socket and its handler are
//! dropped.

use super::HttpBuilder;
use super::load::Load;
use crate::hyper::{InTokio, LampreyExecutor, LampreyTimer};
use ::axum::body::Body;
use ::axum::extract::Request;
use ::axum::response::Response;
use ::hyper::body::Incoming;
use ::hyper::rt::{Read, Write};
use hyper_util::service::TowerToHyperService;
use lamprey::sync::WaitGroup;
use lamprey::{Builder, CancelToken, Handle};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// How long a peer may take for the headers of a request, and be idle between two: hyper's own default.
const HEADERS: Duration = Duration::from_secs(30);

/// The settings before the program changes them.
pub(super) fn http() -> HttpBuilder {
    let mut http = HttpBuilder::new(InTokio(LampreyExecutor::new()));
    http.http1().timer(LampreyTimer).header_read_timeout(HEADERS);
    // CONNECT is how WebSockets begin in HTTP/2.
    http.http2().timer(LampreyTimer).enable_connect_protocol();
    http
}

/// What the connections of a server share.
pub(super) struct Connections {
    runtime: Handle,
    http: HttpBuilder,
    load: Arc<Load>,
    pub(super) open: WaitGroup,
    /// No more requests.
    pub(super) stop: CancelToken,
    /// No more answers either.
    pub(super) cut: CancelToken,
}

impl Connections {
    pub(super) fn new(runtime: Handle, http: HttpBuilder) -> Self {
        let load = Arc::new(Load::new(runtime.workers()));
        let (stop, cut) = (CancelToken::new(), CancelToken::new());
        Self { runtime, http, load, open: WaitGroup::new(), stop, cut }
    }

    /// Starts the parasite of a connection on the worker that serves the fewest.
    pub(super) fn start<I, S>(self: &Arc<Self>, io: I, service: S) -> io::Result<()>
    where
        I: Read + Write + Unpin + Send + 'static,
        S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
            + Clone
            + Send
            + 'static,
    {
        let (shared, placement, member) = (self.clone(), self.load.place(), self.open.member());
        let builder = Builder::new().worker(placement.worker());
        let connection = async move {
            // Dropped last, also where the parasite is cancelled.
            let _counted = (member, placement);
            // An error is that of a peer that has gone or does not speak HTTP: nobody is left to be told.
            let _ = shared.cut.run_async(shared.serve(io, service)).await;
        };
        // The parasite begins on the stack of this host, which then ends: what a handler does before it first waits does not hold up
        // the loop that accepts.
        let start = move || {
            Builder::new().name("connection of axum").parasite(crate::tokio(connection)).map(|it| it.detach())
        };
        builder.spawn_in(&self.runtime, start).map(drop)
    }

    /// Serves a connection until its end; after `stop`, until the answer that is under way.
    async fn serve<I, S>(&self, io: I, service: S)
    where
        I: Read + Write + Unpin + Send + 'static,
        S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
            + Clone
            + Send
            + 'static,
    {
        let service = TowerToHyperService::new(OfIncoming(service));
        let mut connection = pin!(self.http.serve_connection_with_upgrades(io, service));
        let mut stopped = pin!(self.stop.wait_async());
        let mut is_told = false;
        poll_fn(|cx| {
            if !is_told && stopped.as_mut().poll(cx).is_ready() {
                is_told = true;
                connection.as_mut().graceful_shutdown();
            }
            connection.as_mut().poll(cx).map(drop)
        })
        .await;
    }
}

/// An axum service as one of hyper's requests.
#[derive(Clone)]
struct OfIncoming<S>(S);

impl<S: Service<Request>> Service<hyper::Request<Incoming>> for OfIncoming<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: hyper::Request<Incoming>) -> S::Future {
        self.0.call(request.map(Body::new))
    }
}
