//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | [`Async`]: the one wrapper around what reads and writes |
//! | `futures-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of the crate `futures` |
//! | `tokio-io` | `AsyncRead`, `AsyncWrite`, `AsyncSeek` of tokio; no runtime of tokio |
//! | `hyper` | `hyper::rt`: `Read`, `Write`, `Executor`, `Timer` |
//! | `stream` | `Stream` of every receiver, `Sink` of every sender |
//! | `tower` | a `Service` from a blocking closure, and back |

#[cfg(any(feature = "hyper", feature = "tower"))]
mod home;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "tower")]
pub mod tower;

pub use io::Async;
