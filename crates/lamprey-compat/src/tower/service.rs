//! [`BlockingService`]: a service of a blocking closure.

use super::CallError;
use crate::home::Home;
use lamprey::{Handle, JoinHandle};
use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service that runs `handler` on a new host for each request, with the path of the handler as its name. It is always ready: to limit how many run at once, put tower's
/// `concurrency_limit` around it.
///
/// # Examples
/// See the [module](super).
///
/// # Errors
/// [`CallError`]: the handler's error; a panic, which reaches the caller; the end of the runtime.
///
/// # Cancellation
/// An [`Answer`] that is dropped before it is ready cancels its host, which unwinds at its next blocking call.
pub fn service<F, Q, A, E>(handler: F) -> BlockingService<F>
where
    F: Fn(Q) -> Result<A, E> + Send + Sync + 'static,
{
    BlockingService { handler: Arc::new(handler), home: Home::here() }
}

/// The service that [`service`] makes. Clones share the handler.
pub struct BlockingService<F> {
    handler: Arc<F>,
    home: Home,
}

impl<F> BlockingService<F> {
    /// Has the hosts start in `runtime` when it is called outside of every runtime, for example on a thread of tokio. (On a
    /// host they start in that one's.)
    pub fn on(self, runtime: Handle) -> Self {
        Self { home: Home::of(runtime), ..self }
    }
}

impl<F> Clone for BlockingService<F> {
    fn clone(&self) -> Self {
        Self { handler: self.handler.clone(), home: self.home.clone() }
    }
}

impl<F> fmt::Debug for BlockingService<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlockingService")
    }
}

impl<F, Q, A, E> Service<Q> for BlockingService<F>
where
    F: Fn(Q) -> Result<A, E> + Send + Sync + 'static,
    Q: Send + 'static,
    A: Send + 'static,
    E: Send + 'static,
{
    type Response = A;
    type Error = CallError<E>;
    type Future = Answer<A, E>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), CallError<E>>> {
        Poll::Ready(Ok(()))
    }

    #[track_caller]
    fn call(&mut self, request: Q) -> Answer<A, E> {
        let handler = self.handler.clone();
        Answer(
            self.home.spawn(type_name::<F>(), move || handler(request)).map_or(Work::NoRuntime, Work::Host),
        )
    }
}

/// The response that a host is working on.
///
/// # Panics
/// When it is polled after it was ready.
#[must_use = "an answer that is dropped cancels its host"]
pub struct Answer<A, E>(Work<A, E>);

enum Work<A, E> {
    Host(JoinHandle<Result<A, E>>),
    NoRuntime,
    Done,
}

impl<A, E> Future for Answer<A, E> {
    type Output = Result<A, CallError<E>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = match &mut self.0 {
            Work::Host(host) => std::task::ready!(Pin::new(host).poll(cx)),
            Work::NoRuntime => return Poll::Ready(Err(CallError::NoRuntime)),
            Work::Done => panic!("the answer of a service was polled after it was ready"),
        };
        // Nothing is left to be cancelled.
        self.0 = Work::Done;
        Poll::Ready(match ended {
            Ok(answer) => answer.map_err(CallError::Failed),
            Err(error) => Err(CallError::Ended(error)),
        })
    }
}

impl<A, E> Drop for Answer<A, E> {
    fn drop(&mut self) {
        if let Work::Host(host) = &self.0 {
            host.cancel();
        }
    }
}

impl<A, E> fmt::Debug for Answer<A, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Work::Host(host) => f.debug_tuple("Answer").field(host).finish(),
            Work::NoRuntime | Work::Done => f.write_str("Answer"),
        }
    }
}
