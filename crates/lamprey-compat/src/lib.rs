//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | [`Async`]: the one wrapper around what reads and writes |
//! | `axum` | [`axum`]: applications of axum, and handlers for them that block |
//! | `futures-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of the crate `futures` |
//! | `hyper` | `hyper::rt`: `Read`, `Write`, `Executor`, `Timer` |
//! | `rustls` | TLS over Lamprey's sockets, as one stream for blocking and for async code |
//! | `stream` | `Stream` of every receiver, `Sink` of every sender |
//! | `tokio` | [`tokio`](tokio()): crates that need tokio's context |
//! | `tokio-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of tokio; no runtime of tokio |
//! | `tower` | a `Service` from a blocking closure, and back |
//! | `ureq` | a blocking HTTP client over Lamprey's sockets; `https` with `rustls` |

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(any(feature = "hyper", feature = "tower"))]
mod home;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
#[cfg(feature = "rustls")]
pub mod rustls;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "ureq")]
pub mod ureq;

#[cfg(feature = "tokio")]
pub use crate::tokio::{Tokio, tokio};
pub use io::Async;
