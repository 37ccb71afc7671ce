//! Sending a part of a file to a socket that is in non-blocking mode.

use super::{Refused, is_refused};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::os::fd::BorrowedFd;

/// Bytes that are copied at once where the kernel does not send them itself.
const COPIED: u64 = 64 << 10;

static REFUSED: Refused = Refused::unknown();

/// Sends up to `len` bytes of `file` from `offset` on, by way of a buffer where a sandbox refuses the call, or the file system
/// does not have it (`EINVAL`: some files of `/proc`). 0 at the end of the file.
///
/// # Errors
/// `EAGAIN` if the socket has no room; those of the calls.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    file: BorrowedFd<'_>,
    offset: u64,
    len: u64,
) -> Result<u64, Errno> {
    if !REFUSED.is_known() {
        let mut position = offset;
        match rustix::fs::sendfile(socket, file, Some(&mut position), len as usize) {
            Err(error) if is_refused(error, libc::SYS_sendfile, [-1, -1, 0, 0, 0, 0]) => REFUSED.note(),
            Err(Errno::INVAL) => {}
            sent => return sent.map(|sent| sent as u64),
        }
    }
    let mut buf = vec![0; len.min(COPIED) as usize];
    let count = rustix::io::pread(file, &mut buf, offset)?;
    if count == 0 {
        return Ok(0);
    }
    // What the socket has no room for is read again.
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    rustix::net::send(socket, &buf[..count], flags).map(|sent| sent as u64)
}
