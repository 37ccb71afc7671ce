//! axum on Lamprey: [`serve`], with the shape of axum's own, and handlers that block ([`blocking`]).
//!
//! An application of axum moves by one import and its `main`; its routes, extractors, state and middleware stay as they are:
//!
//! ```
//! use axum::{Router, extract::ConnectInfo, routing::get};
//! use lamprey_compat::axum::serve; // before: use axum::serve;
//! use std::net::SocketAddr;
//!
//! async fn who(ConnectInfo(peer): ConnectInfo<SocketAddr>) -> String {
//!     format!("you are {}", peer.ip())
//! }
//!
//! # use std::io::{Read, Write};
//! lamprey::run(|| -> std::io::Result<()> {
//!     let app = Router::new().route("/who", get(who)).into_make_service_with_connect_info::<SocketAddr>();
//!     let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     let stop = lamprey::CancelToken::new();
//!     let told = stop.clone();
//!     let server = lamprey::spawn(move || {
//!         serve(listener, app).with_graceful_shutdown(async move { told.wait_async().await }).run()
//!     });
//!     let mut client = lamprey::net::TcpStream::connect(address)?;
//!     client.write_all(b"GET /who HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")?;
//!     let mut answer = String::new();
//!     client.read_to_string(&mut answer)?;
//!     assert!(answer.ends_with("you are 127.0.0.1"), "{answer}");
//!     stop.cancel();
//!     server.join().unwrap()
//! })?;
//! # std::io::Result::Ok(())
//! ```
//!
//! # What runs where
//! | what | runs |
//! |---|---|
//! | the loop that accepts | where the future of [`serve`] is polled, or the host that calls `run` |
//! | a connection: its requests, middleware, handlers, bodies (server-sent events) | a parasite; it starts on the worker with the fewest connections of this server |
//! | a stream of HTTP/2, with its handler | a parasite |
//! | a handler in [`blocking`] | a host of its own |
//! | what is started by `tokio::spawn`, so the callback of axum's `WebSocketUpgrade::on_upgrade` | tokio's thread ([`lamprey_compat::tokio`](crate::tokio())) |
//! | timers of tokio within a handler or a middleware | tokio's thread wakes the parasite, which runs on a worker |
//!
//! An `async` handler that blocks holds up its connection and the host that polls it, and cannot be cancelled there. Within [`blocking`] it may.

// | file | content |
// |---|---|
// | `serve` | the calls of a program |
// | `accept` | the loop that accepts, and what follows it |
// | `connection` | what serves a connection, and what ends it |
// | `first` | the time until the first request |
// | `listener`, `make` | what can be given to `serve` |
// | `load` | on which worker a connection is served |
// | `blocking` | handlers on hosts |

mod accept;
mod blocking;
mod connection;
mod first;
mod listener;
mod load;
mod make;
mod serve;

pub use blocking::{Blocking, blocking};
pub use listener::Listener;
pub use make::{IncomingStream, MakeService};
pub use serve::{Serve, ServeFuture, WithGracefulShutdown, serve};

use crate::hyper::{InTokio, LampreyExecutor};

/// The settings of hyper's connections, which [`Serve::http`] lends.
pub type HttpBuilder = hyper_util::server::conn::auto::Builder<InTokio<LampreyExecutor>>;
