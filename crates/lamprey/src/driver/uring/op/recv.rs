//! `RECV`: waits until the socket has bytes, and moves them to the caller's buffer.

use super::call;
use super::{Answer, Here, length};
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::opcode;
use io_uring::types::Fd;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

/// The kernel's answer; `None` if the operation was not performed.
///
/// # Errors
/// `TimedOut`: nothing has been received.
pub(crate) fn recv(
    here: Here,
    socket: BorrowedFd<'_>,
    buf: &mut [u8],
    deadline: Option<Instant>,
) -> io::Result<Option<Answer>> {
    let entry = opcode::Recv::new(Fd(socket.as_raw_fd()), buf.as_mut_ptr(), length(buf.len())).build();
    // SAFETY: socket and buffer are borrowed until this returns.
    unsafe { call::perform(here, entry, KernelWait::on(Wait::SocketRead, socket), deadline) }
}
