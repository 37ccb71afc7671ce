//! The awaitable form of [`attempt`](Socket::attempt): the same steps with `await` in place of blocking.

use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::io::Errno;

use super::Socket;
use crate::driver::readiness::Interest;
use crate::driver::readiness::future::EdgeWait;
use crate::io::simulated::failed;
use crate::sched::coop_async::take_a_turn_async;
use crate::sleep::{Sleep, sleep_async};

/// The time limit of an operation. It counts from the first wait, and allocates only then.
pub(crate) struct Limit {
    timeout: Option<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// The time has passed; one try is left.
    late: bool,
}

impl Limit {
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, sleep: None, late: false }
    }

    /// Ready once the time has passed.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(timeout) = self.timeout else { return Poll::Pending };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_async(timeout)));
        self.late = sleep.as_mut().poll(context).is_ready();
        if self.late { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl<S: AsFd> Socket<S> {
    /// Repeats `operation` until it does not fail with `EAGAIN`, and waits for `interest` before each retry.
    /// A dropped future makes no more attempts; an attempt that has transferred something is its last step.
    ///
    /// # Errors
    /// As for [`attempt`](Socket::attempt), and the kernel's when the socket cannot be registered.
    pub(crate) fn attempt_async<T>(
        &self,
        interest: Interest,
        timeout: Option<Duration>,
        mut operation: impl FnMut(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> impl Future<Output = io::Result<T>> {
        let mut limit = Limit::new(timeout);
        // An `async` block, because an `async fn` would store its arguments twice.
        async move {
            let mut place = pin!(self.place(interest));
            take_a_turn_async(1).await;
            loop {
                self.check_open()?;
                let seen = self.edges(interest);
                match operation(self.inner.as_fd()) {
                    Ok(value) => return Ok(value),
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => {
                        poll_fn(|context| self.poll_wait(place.as_mut(), &mut limit, seen, context)).await?;
                    }
                    Err(error) => return Err(failed(self.as_fd(), error)),
                }
            }
        }
    }

    /// Ready when it is time to try again: after an edge later than `seen`, or when `limit` has passed.
    ///
    /// # Errors
    /// `TimedOut` at the second call after `limit` has passed.
    pub(crate) fn poll_wait(
        &self,
        place: Pin<&mut EdgeWait<'_>>,
        limit: &mut Limit,
        seen: u64,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if limit.late {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        match place.poll_after(self.inner.as_fd(), seen, context) {
            Poll::Pending => limit.poll(context).map(Ok),
            ready => ready,
        }
    }

    /// The number of edges so far; see [`Readiness::edges`](crate::driver::readiness::Readiness::edges).
    pub(crate) fn edges(&self, interest: Interest) -> u64 {
        self.readiness.edges(interest)
    }

    /// A wait node for [`poll_wait`](Self::poll_wait).
    pub(crate) fn place(&self, interest: Interest) -> EdgeWait<'_> {
        EdgeWait::new(&self.readiness, interest)
    }

    /// Ready after `time`, or when the socket is closed.
    pub(crate) async fn pause_async(&self, time: Duration) -> io::Result<()> {
        let mut place = pin!(self.place(Interest::Close));
        let mut time = pin!(sleep_async(time));
        poll_fn(|context| match time.as_mut().poll(context) {
            Poll::Pending => place.as_mut().poll_after(self.inner.as_fd(), 0, context),
            Poll::Ready(()) => Poll::Ready(Ok(())),
        })
        .await
    }
}
