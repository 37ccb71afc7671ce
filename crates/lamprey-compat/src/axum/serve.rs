//! [`serve`], its options, and its future.

use super::HttpBuilder;
use super::accept::serve_until;
use super::connection;
use super::listener::Listener;
use super::make::MakeService;
use crate::wait::now_or_wait;
use std::fmt;
use std::future::{Future, IntoFuture, Pending, pending};
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Serves an axum application on Lamprey: `axum::serve` with a listener of Lamprey. HTTP/1 and HTTP/2, with upgrades.
///
/// Await what it returns, or call [`run`](Serve::run) in blocking code. [The module](super) says what runs where.
///
/// # Examples
/// ```no_run
/// use axum::{Router, routing::get};
/// use lamprey_compat::axum::serve;
///
/// lamprey::run(|| -> std::io::Result<()> {
///     let app = Router::new().route("/", get(|| async { "hello" }));
///     let listener = lamprey::net::TcpListener::bind("127.0.0.1:3000")?;
///     serve(listener, app).with_graceful_shutdown(stop()).run()
/// })?;
///
/// /// The end is announced by SIGTERM.
/// async fn stop() {
///     match lamprey::signal::listen(&[lamprey::signal::Signal::TERM]) {
///         Ok(signals) => drop(signals.recv_async().await),
///         Err(error) => eprintln!("cannot listen for signals: {error}"),
///     }
/// }
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The future's: `NotConnected` if it is polled outside of a host, because connections need workers; and the listener's, if it can accept no
/// more (connections that are open are then served to their end first). A listener that is closed ends the server with `Ok`.
///
/// # Panics
/// A panic of a handler ends its connection (of HTTP/2, its stream) and is reported on standard error. A panic of the make-service ends
/// the server.
///
/// # Cancellation
/// Dropping the future stops to listen, and begins to drop the connections; so does a cancellation of the host in `run`. Each connection
/// is dropped by its worker soon after, with the future of its handler, and handlers in [`blocking`](super::blocking()) are cancelled then.
/// Nothing waits for that: [`finish_within`](WithGracefulShutdown::finish_within) does.
#[track_caller]
pub fn serve<L, M, K>(listener: L, make_service: M) -> Serve<L, M, K>
where
    L: Listener,
    M: MakeService<L, K>,
{
    let (http, first_request) = (connection::http(), connection::FIRST_REQUEST);
    Serve { listener, make_service, http, first_request, kind: PhantomData }
}

/// A server without an end: what [`serve`] returns.
#[must_use = "a server does nothing until it is awaited, or its `run` is called"]
pub struct Serve<L, M, K> {
    listener: L,
    make_service: M,
    http: HttpBuilder,
    first_request: Duration,
    kind: PhantomData<fn() -> K>,
}

impl<L: Listener, M: MakeService<L, K>, K: 'static> Serve<L, M, K> {
    /// Ends the server when `signal` is ready: it accepts no more, each connection ends after the answer that is under way, and
    /// then the future of the server is ready. `signal` may use tokio (`tokio::signal`).
    ///
    /// Connections that were upgraded (WebSockets) are not waited for, as in axum itself: their callback has to watch for the end.
    pub fn with_graceful_shutdown<F>(self, signal: F) -> WithGracefulShutdown<L, M, K, F>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        WithGracefulShutdown { serve: self, signal, within: None }
    }

    /// Changes hyper's settings of connections: limits, time limits, versions. Those of [`serve`]: a peer of HTTP/1
    /// has 30 seconds for the headers of a request, counted from the end of the one before; so it may be idle for as long. A peer of HTTP/2
    /// is sent a ping after 30 seconds without a frame of it, and is closed if it has not answered 20 seconds later; one that answers may be
    /// idle for as long as it likes. The time until the first request is [`first_request_within`](Self::first_request_within).
    ///
    /// # Examples
    /// ```
    /// # use axum::Router;
    /// # use std::time::Duration;
    /// # let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
    /// let server = lamprey_compat::axum::serve(listener, Router::new()).http(|http| {
    ///     http.http1().header_read_timeout(Duration::from_secs(5));
    ///     http.http2().max_concurrent_streams(100);
    /// });
    /// # drop(server);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn http(mut self, change: impl FnOnce(&mut HttpBuilder)) -> Self {
        change(&mut self.http);
        self
    }

    /// Closes a connection whose first request has not come so long after it was accepted: its handshake (of a listener that
    /// makes TLS streams), the preface of HTTP/2, and the headers of the request. 30 seconds, unless this is called;
    /// [`Duration::MAX`] is no limit.
    ///
    /// # Examples
    /// ```
    /// # use axum::Router;
    /// # use std::time::Duration;
    /// # let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
    /// let server = lamprey_compat::axum::serve(listener, Router::new()).first_request_within(Duration::from_secs(5));
    /// # drop(server);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn first_request_within(mut self, time: Duration) -> Self {
        self.first_request = time;
        self
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<L::Address> {
        self.listener.local_addr()
    }

    /// Serves, in blocking code.
    ///
    /// # Errors
    /// Those of [`serve`], and `WouldBlock` on a host that is unwinding.
    ///
    /// # Cancellation
    /// As [`serve`].
    ///
    /// # Blocking
    /// The calling host waits.
    pub fn run(self) -> io::Result<()> {
        now_or_wait("clients", self.into_future())?
    }
}

/// A server that ends when it is told to: what [`Serve::with_graceful_shutdown`] returns.
#[must_use = "a server does nothing until it is awaited, or its `run` is called"]
pub struct WithGracefulShutdown<L, M, K, F> {
    serve: Serve<L, M, K>,
    signal: F,
    within: Option<Duration>,
}

impl<L, M, K, F> WithGracefulShutdown<L, M, K, F>
where
    L: Listener,
    M: MakeService<L, K>,
    K: 'static,
    F: Future<Output = ()> + Send + 'static,
{
    /// Connections that have not ended so long after the signal are dropped, with the futures of their handlers, and the hosts of handlers
    /// in [`blocking`](super::blocking()) are cancelled. Otherwise connections are waited for without a limit.
    ///
    /// The server waits for that, but for 2 seconds at most: an `async` handler that calls blocking code cannot be interrupted within
    /// its poll. Its connection is dropped when the poll ends. Hosts in `blocking` may still unwind when the server has ended.
    pub fn finish_within(mut self, time: Duration) -> Self {
        self.within = Some(time);
        self
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<L::Address> {
        self.serve.local_addr()
    }

    /// Serves, in blocking code.
    ///
    /// # Errors
    /// Those of [`serve`], and `WouldBlock` on a host that is unwinding.
    ///
    /// # Cancellation
    /// As [`serve`].
    ///
    /// # Blocking
    /// The calling host waits.
    pub fn run(self) -> io::Result<()> {
        now_or_wait("clients", self.into_future())?
    }
}

impl<L: Listener, M: MakeService<L, K>, K: 'static> IntoFuture for Serve<L, M, K> {
    type Output = io::Result<()>;
    type IntoFuture = ServeFuture;

    fn into_future(self) -> ServeFuture {
        let server =
            WithGracefulShutdown::<L, M, K, Pending<()>> { serve: self, signal: pending(), within: None };
        server.into_future()
    }
}

impl<L, M, K, F> IntoFuture for WithGracefulShutdown<L, M, K, F>
where
    L: Listener,
    M: MakeService<L, K>,
    K: 'static,
    F: Future<Output = ()> + Send + 'static,
{
    type Output = io::Result<()>;
    type IntoFuture = ServeFuture;

    fn into_future(self) -> ServeFuture {
        // In tokio's context, for the signal and the make-service.
        let Self { serve: Serve { listener, make_service, http, first_request, .. }, signal, within } = self;
        let settings = (http, first_request);
        ServeFuture(Box::pin(crate::tokio(serve_until(listener, make_service, settings, signal, within))))
    }
}

/// The future of a server.
#[must_use = "a future does nothing until it is awaited"]
pub struct ServeFuture(Pin<Box<dyn Future<Output = io::Result<()>> + Send>>);

impl Future for ServeFuture {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ServeFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeFuture").finish_non_exhaustive()
    }
}

impl<L: fmt::Debug, M, K> fmt::Debug for Serve<L, M, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl<L: fmt::Debug, M, K, F> fmt::Debug for WithGracefulShutdown<L, M, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithGracefulShutdown").field("serve", &self.serve).finish_non_exhaustive()
    }
}
