//! Sending a file that is too large for memory, piece by piece.
//!
//! Invariant: exactly the promised length is sent, or the connection ends: a file that shrinks meanwhile breaks off, one
//! that grows is cut at the promise. The worker never waits for the disk: pieces that are in the page cache are read at
//! once, others on the blocking pool.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::file::{self, Content, File};
use crate::response::{Sent, write_both};
use crate::rt::{self, TcpStream};
use crate::status::Status;

/// Bytes read and written at a time.
const PIECE: usize = 64 * 1024;

/// Sends `head`, then the bytes of `file`, which is open.
pub(crate) fn send(to: &TcpStream, head: &[u8], file: &Arc<File>) -> Sent {
    let mut pieces = Pieces { file: file.clone(), offset: 0, buffer: vec![0; PIECE], cached: true };
    let mut head = head;
    while pieces.offset < file.length() {
        let sent = match pieces.next() {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                write_both(to, head, &pieces.buffer[..count]).map(|()| pieces.offset += count as u64)
            }
        };
        if sent.is_err() {
            break;
        }
        head = b"";
        // A fast reader never makes the write wait: let the others on this worker have their turn.
        rt::yield_now();
    }
    Sent { status: Status::Ok, bytes: pieces.offset, whole: pieces.offset == file.length() }
}

struct Pieces {
    file: Arc<File>,
    offset: u64,
    buffer: Vec<u8>,
    /// Whether this file system can say what is in the page cache.
    cached: bool,
}

impl Pieces {
    /// Reads the next piece into the buffer; 0 at the end of the file.
    fn next(&mut self) -> io::Result<usize> {
        let left = self.file.length() - self.offset;
        let wanted = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        if self.cached {
            match file::read_cached(descriptor(&self.file)?, &mut self.buffer[..wanted], self.offset) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.cached = false,
            }
        }
        let (file, offset, mut buffer) = (self.file.clone(), self.offset, std::mem::take(&mut self.buffer));
        let (buffer, result) = rt::block(move || {
            let result = descriptor(&file).and_then(|fd| file::read(fd, &mut buffer[..wanted], offset));
            (buffer, result)
        });
        self.buffer = buffer;
        result
    }
}

fn descriptor(file: &File) -> io::Result<&OwnedFd> {
    match &file.content {
        Content::Open(fd) => Ok(fd),
        Content::Whole(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}
