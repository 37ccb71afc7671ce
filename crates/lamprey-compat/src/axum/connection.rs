//! What the connections of a server share, the parasite of a connection, and what ends it.
//!
//! A connection ends by itself (the peer has gone, no request came within the time for the first one, or it was idle for longer than the
//! time for a request's headers); when the server stops, after the answer that is under way (`stop`); or at once (`cut`). It is a member
//! of `open` until its socket and its handler are dropped.
//!
//! # The stack
//! A peer decides how deep TLS and HTTP go, so nothing of that is on a stack that is used up already. Code without optimisation keeps a copy
//! of what it moves in each frame, and a connection of hyper is large (11 KiB with TLS): so only pointers are moved, and it is made in a
//! call that has returned before it is polled ([`Connections::begin`]). The first poll is on a host of its own, with nothing of the
//! program's below.

use super::HttpBuilder;
use super::first::{First, Watched};
use super::load::Load;
use crate::hyper::{InTokio, LampreyExecutor, LampreyTimer};
use ::axum::body::Body;
use ::axum::extract::Request;
use ::axum::response::Response;
use ::hyper::body::Incoming;
use ::hyper::rt::{Read, Write};
use hyper_util::server::conn::auto::UpgradeableConnection;
use hyper_util::service::TowerToHyperService;
use lamprey::sync::WaitGroup;
use lamprey::{Builder, CancelToken, Handle};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// How long a peer may take for the headers of a request, and be idle between two: hyper's own default.
const HEADERS: Duration = Duration::from_secs(30);

/// How long a peer may take until its first request is there, if the program does not say it.
pub(super) const FIRST_REQUEST: Duration = Duration::from_secs(30);

/// How often a peer of HTTP/2 is asked whether it is still there. hyper gives it 20 seconds to answer.
const PINGS: Duration = Duration::from_secs(30);

/// The settings before the program changes them.
pub(super) fn http() -> HttpBuilder {
    let mut http = HttpBuilder::new(InTokio(LampreyExecutor::new()));
    http.http1().timer(LampreyTimer).header_read_timeout(HEADERS);
    // CONNECT is how WebSockets begin in HTTP/2.
    http.http2().timer(LampreyTimer).enable_connect_protocol().keep_alive_interval(PINGS);
    http
}

/// What the connections of a server share.
pub(super) struct Connections {
    runtime: Handle,
    http: HttpBuilder,
    /// How long a peer may take until its first request is there.
    first_request: Duration,
    load: Arc<Load>,
    pub(super) open: WaitGroup,
    /// No more requests.
    pub(super) stop: CancelToken,
    /// No more answers either.
    pub(super) cut: CancelToken,
}

impl Connections {
    pub(super) fn new(runtime: Handle, http: HttpBuilder, first_request: Duration) -> Self {
        let load = Arc::new(Load::new(runtime.workers()));
        let (stop, cut) = (CancelToken::new(), CancelToken::new());
        Self { runtime, http, first_request, load, open: WaitGroup::new(), stop, cut }
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
        let first = First::within(self.first_request);
        let parts = Box::new((io, service));
        let connection = async move {
            // Dropped last, also where the parasite is cancelled.
            let _counted = (member, placement);
            // An error is that of a peer that has gone or does not speak HTTP: nobody is left to be told.
            let _ = shared.cut.run_async(shared.serve(parts, first)).await;
        };
        // The parasite begins on the stack of this host, which then ends: what a handler does before it first waits does not hold up
        // the loop that accepts. (One that is started for a worker from here could not leave that worker.)
        let start = move || {
            Builder::new().name("connection of axum").parasite(crate::tokio(connection)).map(|it| it.detach())
        };
        builder.spawn_in(&self.runtime, start).map(drop)
    }

    /// hyper's connection, before its first poll.
    #[expect(clippy::boxed_local, reason = "moved by the pointer until here")]
    #[inline(never)]
    fn begin<I, S>(&self, parts: Box<(I, S)>, first: &First) -> Pin<Box<OfHyper<'_, I, S>>>
    where
        I: Read + Write + Unpin + Send + 'static,
        S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
            + Clone
            + Send
            + 'static,
    {
        let (io, service) = *parts;
        let service = first.watch(TowerToHyperService::new(OfIncoming(service)));
        Box::pin(self.http.serve_connection_with_upgrades(io, service))
    }

    /// Serves a connection until its end; after `stop`, until the answer that is under way.
    async fn serve<I, S>(&self, parts: Box<(I, S)>, first: First)
    where
        I: Read + Write + Unpin + Send + 'static,
        S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
            + Clone
            + Send
            + 'static,
    {
        let mut connection = self.begin(parts, &first);
        let mut first = first.overdue();
        let mut stopped = pin!(self.stop.wait_async());
        let mut is_told = false;
        poll_fn(|cx| {
            if !is_told && stopped.as_mut().poll(cx).is_ready() {
                is_told = true;
                connection.as_mut().graceful_shutdown();
            }
            match connection.as_mut().poll(cx) {
                Poll::Ready(_) => Poll::Ready(()),
                // After the connection, which may have found the request in this poll.
                Poll::Pending => Pin::new(&mut first).poll(cx),
            }
        })
        .await;
    }
}

/// A connection of hyper.
type OfHyper<'a, I, S> =
    UpgradeableConnection<'a, I, Watched<TowerToHyperService<OfIncoming<S>>>, InTokio<LampreyExecutor>>;

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
