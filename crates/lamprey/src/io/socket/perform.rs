//! Socket operations that the kernel performs for a thread that would have to wait (io_uring).
//!
//! The system call still comes first, as long as it mostly succeeds: it costs less than an operation of the ring, and
//! no switch. A socket that was empty the last time is expected to be so again ([`Socket::is_behind`]): then the
//! operation goes to the ring at once, which saves a call that fails.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::Socket;
use crate::driver::readiness::Interest;
use crate::driver::uring::here::{Here, here};
use crate::io::simulated::failed;
use crate::sched::{Wait, coop};
use crate::world;

/// One operation in its two forms. `C` is what it works on, such as the buffer.
pub(crate) struct Forms<A, P> {
    /// The system call, which fails with `EAGAIN` rather than to wait.
    pub(crate) attempt: A,
    /// The operation of the ring; `None` if it was not performed.
    pub(crate) perform: P,
}

impl<S: AsFd> Socket<S> {
    /// Repeats an operation until it does not fail with `EAGAIN`; the kernel waits where there is a ring, else the
    /// thread waits for `interest`.
    ///
    /// # Errors
    /// As for [`attempt`](Socket::attempt).
    #[inline]
    pub(crate) fn attempt_or_perform<T, C>(
        &self,
        (interest, reason, timeout): (Interest, Wait, Option<Duration>),
        mut on: C,
        forms: Forms<
            impl Fn(&mut C, BorrowedFd<'_>) -> Result<T, Errno>,
            impl Fn(&mut C, Here, BorrowedFd<'_>, Option<Instant>) -> io::Result<Option<T>>,
        >,
    ) -> io::Result<T> {
        if !self.is_behind(interest) || self.options.nonblocking() {
            coop::call(coop::SYSTEM);
            self.check_open()?;
            match self.unless_drained(interest, self.edges(interest), |fd| (forms.attempt)(&mut on, fd)) {
                Ok(value) => return Ok(value),
                Err(Errno::AGAIN) => self.set_behind(interest, true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(self.as_fd(), error)),
            }
        }
        if let Some(here) = here()
            && !self.options.nonblocking()
        {
            self.check_open()?;
            let deadline = timeout.and_then(|timeout| world::now().checked_add(timeout));
            let performed = (forms.perform)(&mut on, here, self.as_fd(), deadline);
            // A `close` ends the operation in one way or another.
            self.check_open()?;
            if let Some(value) = performed? {
                return Ok(value);
            }
        }
        self.attempt(interest, reason, timeout, |fd| (forms.attempt)(&mut on, fd))
    }
}
