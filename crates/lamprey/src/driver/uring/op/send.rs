//! `SEND`: waits until the socket has room, and copies bytes there.

use super::call;
use super::{Answer, Here, length};
use crate::sched::Wait;
use io_uring::opcode;
use io_uring::types::Fd;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

/// The kernel's answer; `None` if the operation was not performed.
///
/// # Errors
/// `TimedOut`: nothing has been sent.
pub(crate) fn send(
    here: Here,
    socket: BorrowedFd<'_>,
    buf: &[u8],
    deadline: Option<Instant>,
) -> io::Result<Option<Answer>> {
    let entry = opcode::Send::new(Fd(socket.as_raw_fd()), buf.as_ptr(), length(buf.len()))
        .flags(libc::MSG_NOSIGNAL)
        .build();
    // SAFETY: socket and buffer are borrowed until this returns.
    unsafe { call::perform(here, entry, Wait::SocketWrite, deadline) }
}
