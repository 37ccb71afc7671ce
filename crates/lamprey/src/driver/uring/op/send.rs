//! `SEND`: waits until the socket has room, and copies bytes there. `SEND_ZC`: sends bytes from where they are; the answer
//! comes first, and later, when the peer has acknowledged the bytes, that the kernel has done with the memory. The thread
//! waits for both.

use super::call;
use super::{Here, length};
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::opcode;
use io_uring::types::Fd;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

/// The number of bytes; `None` if the operation was not performed.
///
/// # Errors
/// The kernel's, and `TimedOut`: nothing has been sent.
pub(crate) fn send(
    here: Here,
    socket: BorrowedFd<'_>,
    buf: &[u8],
    in_place: bool,
    deadline: Option<Instant>,
) -> io::Result<Option<usize>> {
    let (fd, start, len) = (Fd(socket.as_raw_fd()), buf.as_ptr(), length(buf.len()));
    let entry = if in_place {
        opcode::SendZc::new(fd, start, len).flags(libc::MSG_NOSIGNAL).build()
    } else {
        opcode::Send::new(fd, start, len).flags(libc::MSG_NOSIGNAL).build()
    };
    // SAFETY: socket and buffer are borrowed until this returns, after the kernel has done with them.
    unsafe { call::count(here, entry, KernelWait::on(Wait::SocketWrite, socket), deadline) }
}
