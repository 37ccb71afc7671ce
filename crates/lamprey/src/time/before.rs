//! A future with a limit: the result of one future, unless another is ready first.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The output of `future`, or `error` if `limit` is ready first. If one poll finds both ready, the output
/// wins.
///
/// Dropping it drops both.
pub(crate) fn before<F: Future, L: Future, E: Copy>(future: F, limit: L, error: E) -> Before<F, L, E> {
    Before { future, limit, error }
}

/// The future that [`before`] returns.
pub(crate) struct Before<F, L, E> {
    future: F,
    limit: L,
    error: E,
}

impl<F: Future, L: Future, E: Copy> Future for Before<F, L, E> {
    type Output = Result<F::Output, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both fields are only used pinned, here, and dropped in place; the type has no `Drop`, and
        // is `Unpin` only if both are.
        let (mut future, limit, error) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.limit), this.error)
        };
        // The future is polled first, so a result at the last poll, after the limit, still counts.
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        if limit.poll(context).is_pending() {
            return Poll::Pending;
        }
        // It may only have given way to others, and be ready.
        Poll::Ready(match future.poll(context) {
            Poll::Ready(output) => Ok(output),
            Poll::Pending => Err(error),
        })
    }
}
