//! What hyper asks of a runtime: [`LampreyExecutor`] and [`LampreyTimer`]. (Its `Read` and `Write` are implemented by
//! [`Async`](crate::Async).)

mod batch;
mod executor;
mod timer;

pub use executor::LampreyExecutor;
pub use timer::LampreyTimer;
