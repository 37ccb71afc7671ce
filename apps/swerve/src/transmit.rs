//! Sending bytes to a peer: from memory in one call, or from a file inside the kernel.
//!
//! Invariant: exactly the promised length is sent, or [`Sent::whole`] is false and the connection ends: a
//! file that shrinks while it is sent breaks off, one that grows is cut at the promised length. The worker
//! does not wait for the disk (see [`TcpStream::sendfile`]).

use std::io::{self, IoSlice, Write};
use std::os::fd::OwnedFd;

use lamprey::net::TcpStream;

use crate::status::Status;

/// How many bytes of a file are sent before the other connections of the worker run.
const PIECE: u64 = 256 * 1024;

/// What became of a response.
pub(crate) struct Sent {
    pub(crate) status: Status,
    /// Bytes of the body that the socket took.
    pub(crate) bytes: u64,
    /// Whether the response was sent whole: if not, the connection cannot be used any more.
    pub(crate) whole: bool,
}

/// Sends `head` and `body`.
pub(crate) fn send_bytes(to: &TcpStream, status: Status, head: &[u8], body: &[u8]) -> Sent {
    let whole = write_both(to, head, body).is_ok();
    Sent { status, bytes: if whole { body.len() as u64 } else { 0 }, whole }
}

/// Sends `head`, then `length` bytes of `file`.
pub(crate) fn send_file(to: &TcpStream, head: &[u8], file: &OwnedFd, length: u64) -> Sent {
    let mut bytes = 0;
    if write_both(to, head, b"").is_ok() {
        while let Ok(more @ 1..) = to.sendfile(file, bytes, (length - bytes).min(PIECE)) {
            bytes += more;
            // A peer that reads fast never makes this host wait.
            lamprey::yield_now();
        }
    }
    Sent { status: Status::Ok, bytes, whole: bytes == length }
}

/// Writes `head` and `body` with as few calls as the socket allows.
pub(crate) fn write_both(mut to: &TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let mut parts = [IoSlice::new(head), IoSlice::new(body)];
    let mut rest = &mut parts[..];
    // Drops empty parts at the front, so that the loop ends when all bytes are written.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match to.write_vectored(rest)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => IoSlice::advance_slices(&mut rest, count),
        }
    }
    Ok(())
}
