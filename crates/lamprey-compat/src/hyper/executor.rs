//! [`LampreyExecutor`]: hyper's background work, as parasites.

use super::batch::later;
use crate::home::Home;
use hyper::rt::Executor;
use lamprey::Handle;
use std::future::Future;

/// Starts the futures of hyper (connections of HTTP/2, their streams) as detached [parasites](lamprey::parasite()).
///
/// One that is started on a host or parasite, by [`execute`](Executor::execute), starts on the same worker, but not within that call: what one
/// poll of a connection starts is started together, so that its answers are written together. What is started elsewhere, for example on
/// a thread of tokio, starts in the runtime that the executor was made for.
///
/// # Panics
/// `execute` outside of every runtime, if the executor was made outside, too: make it by [`of`](Self::of) then.
#[derive(Debug, Clone)]
pub struct LampreyExecutor {
    home: Home,
}

impl LampreyExecutor {
    /// An executor for the runtime of the calling host, if there is one.
    pub fn new() -> Self {
        Self { home: Home::here() }
    }

    /// An executor for a runtime, which works on any thread.
    pub fn of(runtime: Handle) -> Self {
        Self { home: Home::of(runtime) }
    }
}

impl Default for LampreyExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> Executor<F> for LampreyExecutor
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    #[track_caller]
    fn execute(&self, future: F) {
        match (Handle::current(), self.home.given()) {
            (Some(here), _) => later(here, move || lamprey::parasite(future).detach()),
            (None, Some(home)) => home.parasite(future).detach(),
            // Panics, and says why.
            (None, None) => lamprey::parasite(future).detach(),
        }
    }
}
