//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | [`Async`]: the one wrapper around what reads and writes |
//! | `axum` | [`axum`]: applications of axum, and handlers for them that block |
//! | `dial9` | [`dial9`]: what the workers have done, for dial9's viewer of traces |
//! | `futures-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of the crate `futures` |
//! | `hyper` | `hyper::rt`: `Read`, `Write`, `Executor`, `Timer` |
//! | `metrics` | [`metrics`]: what a runtime counts and measures, for the crate `metrics` |
//! | `perfetto` | [`perfetto`]: what the workers have done, as a picture |
//! | `pprof` | [`pprof`]: where threads wait, and for how long, as a profile |
//! | `prometheus` | [`prometheus`]: what a runtime counts and measures, for Prometheus |
//! | `rustls` | TLS over Lamprey's sockets, as one stream for blocking and for async code |
//! | `stream` | `Stream` of every receiver, `Sink` of every sender |
//! | `tokio` | [`tokio`](tokio()): crates that need tokio's context |
//! | `tokio-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of tokio; no runtime of tokio |
//! | `tower` | a `Service` from a blocking closure, and back |
//! | `tracing` | [`tracing`]: spans that belong to Lamprey's threads |
//! | `ureq` | a blocking HTTP client over Lamprey's sockets; `https` with `rustls` |
//!
//! # Examples
//! A library of tokio's world over a socket of Lamprey's, in blocking code. Nothing of tokio's runtime is needed:
#![cfg_attr(feature = "tokio-io", doc = "```")]
#![cfg_attr(not(feature = "tokio-io"), doc = "```ignore")]
//! use lamprey::net::UnixStream;
//! use lamprey_compat::Async;
//! use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
//!
//! # lamprey::run(|| -> std::io::Result<()> {
//! let (here, there) = UnixStream::pair()?;
//! let sender = lamprey::parasite(async move { Async::new(there).write_all(b"one\ntwo\n").await });
//! let mut lines = BufReader::new(Async::new(here)).lines();
//! let mut count = 0;
//! while let Some(line) = lamprey::wait(lines.next_line())? {
//!     count += line.len();
//! }
//! assert_eq!(count, 6);
//! sender.join().unwrap()
//! # })?;
//! # std::io::Result::Ok(())
//! ```
//! hyper's server, whose connections are parasites:
#![cfg_attr(feature = "hyper", doc = "```")]
#![cfg_attr(not(feature = "hyper"), doc = "```ignore")]
//! use hyper::{Response, body::Bytes, server::conn::http1, service::service_fn};
//! use lamprey::net::{TcpListener, TcpStream};
//! use lamprey_compat::{Async, hyper::LampreyTimer};
//! use std::convert::Infallible;
//! use std::io::{Read, Write};
//!
//! # lamprey::run(|| -> std::io::Result<()> {
//! let listener = Async::new(TcpListener::bind("127.0.0.1:0")?);
//! let address = listener.local_addr()?;
//! let server = lamprey::parasite(async move {
//!     while let Ok((stream, _)) = listener.accept().await {
//!         let hello = service_fn(|_| async {
//!             Ok::<_, Infallible>(Response::new(http_body_util::Full::new(Bytes::from("hello"))))
//!         });
//!         let connection = http1::Builder::new().timer(LampreyTimer::new()).serve_connection(stream, hello);
//!         lamprey::parasite(connection).detach();
//!     }
//! });
//!
//! let mut client = TcpStream::connect(address)?;
//! client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.ends_with("hello"));
//! server.cancel();
//! # Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(feature = "dial9")]
pub use lamprey::inspect::dial9;
#[cfg(any(feature = "hyper", feature = "tower"))]
mod home;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "perfetto")]
pub use lamprey::inspect::perfetto;
#[cfg(feature = "pprof")]
pub mod pprof;
#[cfg(feature = "prometheus")]
pub mod prometheus;
#[cfg(feature = "rustls")]
pub mod rustls;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "tracing")]
pub mod tracing;
#[cfg(feature = "ureq")]
pub mod ureq;
#[cfg(any(
    feature = "axum",
    feature = "futures-io",
    feature = "rustls",
    feature = "tokio-io",
    feature = "ureq"
))]
mod wait;

#[cfg(feature = "tokio")]
pub use crate::tokio::{Tokio, tokio};
pub use io::Async;
