//! Whether a descriptor is ready, or at its end, asked of the kernel: `poll(2)` that does not wait.

use crate::driver::readiness::Interest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// `Ok` if an operation for `interest` would not wait now, `EAGAIN` otherwise.
pub(crate) fn is_ready(fd: BorrowedFd<'_>, interest: Interest) -> Result<(), Errno> {
    let flags = if interest == Interest::Write { PollFlags::OUT } else { PollFlags::IN | PollFlags::RDHUP };
    if poll_now(fd, flags)?.is_empty() { Err(Errno::AGAIN) } else { Ok(()) }
}

/// True if a socket has been shut down for reading, through whichever value.
pub(crate) fn reads_to_an_end(fd: BorrowedFd<'_>) -> bool {
    poll_now(fd, PollFlags::RDHUP).is_ok_and(|found| found.contains(PollFlags::RDHUP))
}

/// Which of `flags` there are now, and errors, which are always told.
fn poll_now(fd: BorrowedFd<'_>, flags: PollFlags) -> Result<PollFlags, Errno> {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::from_borrowed_fd(fd, flags)];
    poll(&mut polled, Some(&now))?;
    Ok(polled[0].revents())
}
