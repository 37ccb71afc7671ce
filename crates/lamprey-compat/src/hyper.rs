//! What hyper asks of a runtime: [`LampreyExecutor`] and [`LampreyTimer`]. (Its `Read` and `Write` are implemented by
//! [`Async`](crate::Async).)

mod batch;
mod executor;
#[cfg(feature = "tokio")]
mod in_tokio;
mod timer;

pub use executor::LampreyExecutor;
#[cfg(feature = "tokio")]
pub use in_tokio::InTokio;
pub use timer::LampreyTimer;
