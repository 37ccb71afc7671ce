//! Blocking calls that wait for a future, also on a host that must not wait.

use lamprey::Handle;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The output of `future`.
///
/// # Errors
/// `WouldBlock`, which names `what`, on a host that unwinds, if the future is not ready at once: [`lamprey::wait`] would panic there, and a
/// panic in a destructor ends the process.
pub(crate) fn now_or_wait<F: Future>(what: &str, future: F) -> io::Result<F::Output> {
    if !(std::thread::panicking() && Handle::current().is_some()) {
        return Ok(lamprey::wait(future));
    }
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => {
            let text = format!("a host that is unwinding cannot wait for {what}");
            Err(io::Error::new(ErrorKind::WouldBlock, text))
        }
    }
}
