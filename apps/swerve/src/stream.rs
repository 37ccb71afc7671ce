//! Sending a file that is too large for memory, inside the kernel.
//!
//! Invariant: exactly the promised length is sent, or the connection ends: a file that shrinks meanwhile
//! breaks off, one that grows is cut at the promise. The worker does not wait for the disk (see
//! [`TcpStream::sendfile`]).

use std::os::fd::OwnedFd;

use lamprey::net::TcpStream;

use crate::response::{Sent, write_both};
use crate::status::Status;

/// Bytes sent before others get their turn.
const PIECE: u64 = 256 * 1024;

/// Sends `head`, then `length` bytes of `file`.
pub(crate) fn send(to: &TcpStream, head: &[u8], file: &OwnedFd, length: u64) -> Sent {
    let mut bytes = 0;
    if write_both(to, head, b"").is_ok() {
        while let Ok(more @ 1..) = to.sendfile(file, bytes, (length - bytes).min(PIECE)) {
            bytes += more;
            // A fast reader never makes this wait: let the others on this worker have their turn.
            lamprey::yield_now();
        }
    }
    Sent { status: Status::Ok, bytes, whole: bytes == length }
}
