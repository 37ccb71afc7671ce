//! Blocking calls that wait for a future, also on a host that must not wait; waiting for two at once.

use crate::parasite::wait;
use crate::sched;
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The output of `future`. A host that is unwinding must not wait: `None` if the future is not ready at once.
pub(crate) fn now_or_wait<F: Future>(future: F) -> Option<F::Output> {
    if !sched::must_not_block() {
        return Some(wait(future));
    }
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The result of `future`; an error if it is not ready on a host that is unwinding, which cannot wait for `what`.
pub(crate) fn result_or_wait<T>(what: &str, future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    now_or_wait(future).unwrap_or_else(|| Err(unwinding(what)))
}

/// Why there is none.
pub(crate) fn unwinding(what: &str) -> io::Error {
    io::Error::new(ErrorKind::WouldBlock, format!("a host that is unwinding cannot wait for {what}"))
}

/// The outputs of both futures, which go on by turns.
pub(crate) async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    poll_fn(|context| {
        if of_a.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(context)
        {
            of_a = Some(output);
        }
        if of_b.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(context)
        {
            of_b = Some(output);
        }
        match (of_a.take(), of_b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (of_a, of_b) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}
