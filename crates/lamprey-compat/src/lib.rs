//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | [`Async`]: the one wrapper around what reads and writes |
//! | `futures-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of the crate `futures` |
//! | `tokio-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of tokio; no runtime of tokio |
//! | `hyper` | `hyper::rt`: `Read`, `Write`, `Executor`, `Timer` |

#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;

pub use io::Async;
