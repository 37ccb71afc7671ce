//! The poll form of [`attempt`](Socket::attempt), for the traits of other libraries: no future between two polls.
//!
//! Of several tasks that poll one direction, the last one is woken. The time limits of the socket do not apply.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll, ready};

use rustix::io::Errno;

use super::Socket;
use crate::driver::readiness::Interest;
use crate::driver::readiness::future::reactor;
use crate::io::simulated::failed;
use crate::sched::coop_async::poll_turn;

impl<S: AsFd> Socket<S> {
    /// Tries `operation` until it does not fail with `EAGAIN`; pending, and the task registered, when it has to wait.
    ///
    /// # Errors
    /// Those of `operation`; [`Closed`](crate::io::closed::Closed); the kernel's when the socket cannot be registered.
    #[inline]
    pub(crate) fn poll_attempt<T>(
        &self,
        interest: Interest,
        context: &Context<'_>,
        mut operation: impl FnMut(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> Poll<io::Result<T>> {
        ready!(poll_turn(1, context));
        loop {
            self.check_open()?;
            let seen = self.edges(interest);
            match self.unless_drained(interest, seen, &mut operation) {
                Ok(value) => return Poll::Ready(Ok(value)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    ready!(self.readiness.poll_with(reactor()?, self.as_fd(), interest, seen, context))?;
                }
                Err(error) => return Poll::Ready(Err(failed(self.as_fd(), error))),
            }
        }
    }
}
