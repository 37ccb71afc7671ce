//! `ACCEPT`: waits for a connection.

use super::Here;
use super::call;
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::opcode;
use io_uring::types::Fd;
use rustix::net::SocketAddrAny;
use rustix::net::addr::SocketAddrStorage;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A connection, with the peer's address as the kernel gives it; `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn accept(
    here: Here,
    listener: BorrowedFd<'_>,
) -> io::Result<Option<(OwnedFd, Option<SocketAddrAny>)>> {
    let mut address = MaybeUninit::<SocketAddrStorage>::zeroed();
    let mut len = size_of::<SocketAddrStorage>() as libc::socklen_t;
    let entry = opcode::Accept::new(Fd(listener.as_raw_fd()), address.as_mut_ptr().cast(), &raw mut len)
        .flags(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK)
        .build();
    // SAFETY: the listener is borrowed and the places are on this stack until this returns.
    let Some(answer) = (unsafe { call::perform(here, entry, KernelWait::on(Wait::Accept, listener), None)? })
    else {
        return Ok(None);
    };
    // SAFETY: the kernel has just opened it for this answer, which nobody else has.
    let fd = unsafe { OwnedFd::from_raw_fd(answer.value()? as i32) };
    // SAFETY: the kernel has written an address of that length.
    let address = (len != 0).then(|| unsafe { SocketAddrAny::new(address, len) });
    Ok(Some((fd, address)))
}
