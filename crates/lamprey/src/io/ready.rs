//! Whether a descriptor is ready, asked of the kernel: `poll(2)` that does not wait.

use crate::driver::readiness::Interest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// `Ok` if an operation for `interest` would not wait now, `EAGAIN` otherwise.
pub(crate) fn is_ready(fd: BorrowedFd<'_>, interest: Interest) -> Result<(), Errno> {
    let flags = if interest == Interest::Write { PollFlags::OUT } else { PollFlags::IN | PollFlags::RDHUP };
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&now))? {
        0 => Err(Errno::AGAIN),
        _ => Ok(()),
    }
}
