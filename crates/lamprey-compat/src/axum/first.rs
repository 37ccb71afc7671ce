//! The time that a peer has until its first request is there: hyper's own limits begin later. A peer that sends nothing at all, or
//! breaks off within the handshake of TLS or the preface of HTTP/2, would keep its connection for ever.
//!
//! # Orderings
//! The flag is written and read by the parasite of the connection, in its polls; an atomic only because the future is `Send`: all
//! accesses are Relaxed.

use ::hyper::service::Service;
use lamprey::Sleep;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// Whether the first request of a connection has come, and how long it may take.
pub(super) struct First {
    came: Arc<AtomicBool>,
    limit: Pin<Box<Sleep>>,
}

impl First {
    /// Counted from now.
    pub(super) fn within(time: Duration) -> Self {
        Self { came: Arc::default(), limit: Box::pin(lamprey::sleep_async(time)) }
    }

    /// A service that notes that it is called.
    pub(super) fn watch<S>(&self, service: S) -> Watched<S> {
        Watched { service, came: self.came.clone() }
    }

    /// Ready when the time is over and no request has come.
    pub(super) fn overdue(self) -> Overdue {
        Overdue(Some(self))
    }
}

/// A service of hyper that notes that it is called.
pub(super) struct Watched<S> {
    service: S,
    came: Arc<AtomicBool>,
}

impl<R, S: Service<R>> Service<R> for Watched<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: R) -> S::Future {
        // Relaxed: see Orderings.
        self.came.store(true, Ordering::Relaxed);
        self.service.call(request)
    }
}

/// What [`First::overdue`] returns. Its timer ends with the first request.
pub(super) struct Overdue(Option<First>);

impl Future for Overdue {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(first) = &mut self.0 else { return Poll::Pending };
        // Relaxed: see Orderings.
        if first.came.load(Ordering::Relaxed) {
            self.0 = None;
            return Poll::Pending;
        }
        first.limit.as_mut().poll(cx)
    }
}
