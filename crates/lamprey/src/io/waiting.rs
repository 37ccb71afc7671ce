//! Blocking calls that wait for a future, also on a host that must not wait.

use crate::parasite::wait;
use crate::sched;
use std::future::Future;
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

/// Why there is none.
pub(crate) fn unwinding(what: &str) -> io::Error {
    io::Error::new(ErrorKind::WouldBlock, format!("a host that is unwinding cannot wait for {what}"))
}
