//! Reading and writing by the traits of other libraries.

// | file | content |
// |---|---|
// | `wrapper` | `Async` |
// | `transport` | what can be wrapped, and what the traits of all libraries are made of |
// | `socket`, `pipe`, `descriptor` | what is polled for readiness |
// | `listener` | listeners, which only accept |
// | `queued` | files and standard streams, which have no readiness |
// | `by_futures`, `by_tokio`, `by_hyper` | the traits, a file for each library |
// | `blocking` | the other direction: `Blocking`, what others poll as a blocking `Read` and `Write` |

#![cfg_attr(
    not(any(feature = "futures-io", feature = "tokio-io")),
    allow(
        dead_code,
        reason = "the traits of other libraries are made of it, seeking only those of futures and tokio"
    )
)]

#[cfg(any(feature = "futures-io", feature = "tokio-io"))]
mod blocking;
#[cfg(feature = "futures-io")]
mod by_futures;
#[cfg(feature = "hyper")]
mod by_hyper;
#[cfg(feature = "tokio-io")]
mod by_tokio;
mod descriptor;
mod listener;
mod pipe;
mod queued;
mod socket;
pub(crate) mod transport;
mod wrapper;

#[cfg(any(feature = "futures-io", feature = "tokio-io"))]
pub use blocking::Blocking;
#[cfg(feature = "futures-io")]
pub use blocking::OfFutures;
#[cfg(feature = "tokio-io")]
pub use blocking::OfTokio;
pub use transport::Transport;
pub use wrapper::Async;
