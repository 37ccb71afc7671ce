//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | [`Async`]: the one wrapper around what reads and writes |
//! | `axum` | [`axum`]: applications of axum, and handlers for them that block |
//! | `futures-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of the crate `futures` |
//! | `hyper` | `hyper::rt`: `Read`, `Write`, `Executor`, `Timer` |
//! | `tokio` | [`tokio`](tokio()): crates that need tokio's context |
//! | `tokio-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of tokio; no runtime of tokio |

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
#[cfg(feature = "tokio")]
pub mod tokio;

#[cfg(feature = "tokio")]
pub use crate::tokio::{Tokio, tokio};
pub use io::Async;
