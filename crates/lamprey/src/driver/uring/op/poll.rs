//! `POLL_ADD`, again and again: a completion each time the descriptor becomes readable.

use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use std::os::fd::{AsFd, AsRawFd};

/// A first completion at once if it is readable now. The last one says that there will be no more.
pub(in crate::driver::uring) fn readable_again_and_again(fd: &impl AsFd) -> squeue::Entry {
    opcode::PollAdd::new(Fd(fd.as_fd().as_raw_fd()), libc::POLLIN as u32).multi(true).build()
}
