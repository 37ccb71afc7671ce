//! Reading and writing by the traits of other libraries.
//!
//! # Inside
//!
//! | file | content |
//! |---|---|
//! | `wrapper` | [`Async`] |
//! | `transport` | what can be wrapped, and what the traits of all libraries are made of |
//! | `socket` | sockets |
//! | `by_futures`, `by_tokio`, `by_hyper` | the traits, a file for each library |

#[cfg(feature = "futures-io")]
mod by_futures;
#[cfg(feature = "hyper")]
mod by_hyper;
#[cfg(feature = "tokio-io")]
mod by_tokio;
mod socket;
mod transport;
mod wrapper;

pub use transport::Transport;
pub use wrapper::Async;
