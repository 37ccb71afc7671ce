//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.
//!
//! | feature | what |
//! |---|---|
//! | `tokio` | [`tokio`](tokio()): crates that need tokio's context |

#[cfg(feature = "tokio")]
pub mod tokio;

#[cfg(feature = "tokio")]
pub use crate::tokio::{Tokio, tokio};
