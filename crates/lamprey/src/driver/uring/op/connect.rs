//! `CONNECT`: waits until the connection is made or refused.

use super::Here;
use super::call;
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::opcode;
use io_uring::types::Fd;
use rustix::net::addr::SocketAddrArg;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

/// `None` if the operation was not performed.
///
/// # Errors
/// The kernel's, and `TimedOut`: the connection may still be made afterwards, as with `connect(2)`.
pub(crate) fn connect(
    here: Here,
    socket: BorrowedFd<'_>,
    to: &impl SocketAddrArg,
    deadline: Option<Instant>,
) -> io::Result<Option<()>> {
    let perform = |address: *const rustix::net::addr::SocketAddrOpaque, len| {
        let entry = opcode::Connect::new(Fd(socket.as_raw_fd()), address.cast(), len).build();
        // SAFETY: the socket is borrowed, and the address stays where it is during this call.
        unsafe { call::perform(here, entry, KernelWait::on(Wait::Connect, socket), deadline) }
    };
    // SAFETY: the pointer is used only within the call that it is given to.
    let Some(answer) = (unsafe { to.with_sockaddr(perform)? }) else { return Ok(None) };
    match answer.value() {
        Ok(_) => Ok(Some(())),
        Err(error) if error.raw_os_error() == Some(libc::EISCONN) => Ok(Some(())),
        Err(error) => Err(error),
    }
}
