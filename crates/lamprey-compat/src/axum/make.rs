//! What makes the service of a connection: the second argument of [`serve`](super::serve()).
//!
//! axum's routers are services of axum's own `IncomingStream`, which only axum can build. So they are named here one by one, and a marker
//! keeps them apart from what is a service of every type, such as `IntoMakeServiceWithConnectInfo`.

use super::listener::Listener;
use ::axum::Router;
use ::axum::extract::Request;
use ::axum::extract::connect_info::Connected;
use ::axum::handler::{Handler, HandlerService};
use ::axum::response::Response;
use ::axum::routing::MethodRouter;
use lamprey::net::TcpListener;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::marker::PhantomData;
use tower_service::Service;

/// A connection that has been accepted: what a make-service looks at.
///
/// # Examples
/// What a handler is to know of its connection:
/// ```
/// use axum::{Router, extract::connect_info::{ConnectInfo, Connected}, routing::get};
/// use lamprey_compat::axum::{IncomingStream, serve};
/// use lamprey::net::UnixListener;
///
/// #[derive(Clone)]
/// struct Peer(Option<i32>);
///
/// impl Connected<IncomingStream<'_, UnixListener>> for Peer {
///     fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
///         Peer(stream.io().get_ref().peer_cred().ok().and_then(|peer| peer.pid()).map(|pid| pid as i32))
///     }
/// }
///
/// async fn who(ConnectInfo(Peer(process)): ConnectInfo<Peer>) -> String {
///     format!("process {process:?}")
/// }
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("socket");
/// let app = Router::new().route("/", get(who)).into_make_service_with_connect_info::<Peer>();
/// let server = serve(UnixListener::bind(path)?, app);
/// # drop(server);
/// # std::io::Result::Ok(())
/// ```
pub struct IncomingStream<'a, L: Listener> {
    pub(super) io: &'a L::Io,
    pub(super) address: L::Address,
}

impl<L: Listener> IncomingStream<'_, L> {
    /// The connection.
    pub fn io(&self) -> &L::Io {
        self.io
    }

    /// Who made it.
    pub fn remote_addr(&self) -> &L::Address {
        &self.address
    }
}

impl<L: Listener> fmt::Debug for IncomingStream<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingStream").field("remote_addr", &self.address).finish_non_exhaustive()
    }
}

impl Connected<IncomingStream<'_, TcpListener>> for std::net::SocketAddr {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        stream.address
    }
}

/// What [`serve`](super::serve()) makes the service of each connection from: a `Router` or `MethodRouter` whose state has been given, a
/// handler with its state, `into_make_service()`, `into_make_service_with_connect_info()`, or a `Service` of the program that takes
/// an [`IncomingStream`].
///
/// `K` tells these apart; it is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served at a listener `{L}`",
    note = "the listener has to be one of Lamprey's, or of the program",
    note = "a router whose state has not been given is served after `.with_state(state)`"
)]
pub trait MakeService<L: Listener, K>: Send + 'static {
    /// What answers the requests of a connection.
    type Service: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + 'static;

    /// Returns when [`make`](Self::make) may be called.
    fn ready(&mut self) -> impl Future<Output = ()> + Send;

    /// The service of this connection.
    fn make(&mut self, stream: IncomingStream<'_, L>) -> impl Future<Output = Self::Service> + Send;
}

/// Marks what is a service of connections.
#[derive(Debug)]
pub struct ByService<S>(PhantomData<fn() -> S>);

/// Marks what is cloned for each connection.
#[derive(Debug)]
pub struct ByClone<T>(PhantomData<fn() -> T>);

impl<L, M, S> MakeService<L, ByService<S>> for M
where
    L: Listener,
    M: for<'a> Service<IncomingStream<'a, L>, Response = S, Error = Infallible, Future: Send>
        + Send
        + 'static,
    S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + 'static,
{
    type Service = S;

    async fn ready(&mut self) {
        let Ok(()) = poll_fn(|cx| self.poll_ready(cx)).await;
    }

    fn make(&mut self, stream: IncomingStream<'_, L>) -> impl Future<Output = S> + Send {
        let making = self.call(stream);
        async {
            let Ok(service) = making.await;
            service
        }
    }
}

impl<L: Listener> MakeService<L, ByClone<()>> for Router {
    type Service = Router;

    async fn ready(&mut self) {}

    fn make(&mut self, _: IncomingStream<'_, L>) -> impl Future<Output = Router> + Send {
        // The state is put in here, once, and not for each request: axum's own `serve` does the same.
        ready(self.clone().with_state(()))
    }
}

impl<L: Listener> MakeService<L, ByClone<()>> for MethodRouter {
    type Service = MethodRouter;

    async fn ready(&mut self) {}

    fn make(&mut self, _: IncomingStream<'_, L>) -> impl Future<Output = MethodRouter> + Send {
        ready(self.clone().with_state(()))
    }
}

impl<L, H, T, S> MakeService<L, ByClone<(H, T, S)>> for HandlerService<H, T, S>
where
    L: Listener,
    H: Handler<T, S>,
    T: 'static,
    S: Clone + Send + Sync + 'static,
{
    type Service = Self;

    async fn ready(&mut self) {}

    fn make(&mut self, _: IncomingStream<'_, L>) -> impl Future<Output = Self> + Send {
        ready(self.clone())
    }
}
