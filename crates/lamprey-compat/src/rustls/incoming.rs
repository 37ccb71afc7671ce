//! Bytes that have been read from the socket and not yet given to rustls.
//!
//! rustls itself reads 4 KiB at a time, four or five system calls a record. This buffer takes several records at once. It is
//! twice as long after a read that has filled it, half as long after one that has filled less than a quarter, so an idle
//! connection keeps 4 KiB.

use std::io::{self, Read};

const SHORTEST: usize = 4 << 10;
const LONGEST: usize = 64 << 10;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Incoming {
    buf: Vec<u8>,
    /// The bytes not yet given: `from..to`.
    from: usize,
    to: usize,
}

impl Incoming {
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Where the next read goes. Only while it is empty.
    pub(super) fn space(&mut self) -> &mut [u8] {
        debug_assert!(self.is_empty());
        if self.buf.is_empty() {
            self.buf.resize(SHORTEST, 0);
        }
        &mut self.buf
    }

    /// `read` bytes have been read into [`space`](Self::space).
    pub(super) fn filled(&mut self, read: usize) {
        let room = self.buf.len();
        assert!(
            read <= room,
            "Duplex::poll_read has returned {read} for a buffer of {room} bytes: it breaks its contract"
        );
        (self.from, self.to) = (0, read);
    }

    /// Chooses the length for the next read. Only while it is empty.
    pub(super) fn adapt(&mut self) {
        debug_assert!(self.is_empty());
        let len = self.buf.len();
        if self.to == len && len < LONGEST {
            self.buf.resize(2 * len, 0);
        } else if self.to < len / 4 && len > SHORTEST {
            self.buf.truncate(len / 2);
            self.buf.shrink_to_fit();
        }
    }
}

impl Read for Incoming {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = (&self.buf[self.from..self.to]).read(buf)?;
        self.from += read;
        Ok(read)
    }
}
