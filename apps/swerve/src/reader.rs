//! Bytes from a peer: one header block at a time, within its limits of length and time.
//!
//! Invariant: `bytes[start..end]` is what was received and is not consumed. The buffer stays under twice the
//! longest header block, so a peer can use no more memory than that; pipelined requests wait in it.

use std::io::{self, Read};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use lamprey::net::TcpStream;
use lamprey::{CancelToken, Cancelled};

use crate::config::Limits;
use crate::scan::{Scan, empty_lines, scan};
use crate::status::Status;

/// The size of the buffer at first: enough for what browsers send.
const FIRST: usize = 4096;

/// The result of waiting for a request.
pub(crate) enum RequestHead {
    /// A header block of this many bytes is at the front of [`Reader::filled`].
    Complete(usize),
    /// There will be none; this is the answer.
    Refused(Status),
    /// The peer has closed the connection, or the server stops.
    Closed,
}

pub(crate) struct Reader {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Reader {
    pub(crate) fn new() -> Reader {
        Reader { bytes: vec![0; FIRST], start: 0, end: 0 }
    }

    /// What was received and is not consumed.
    pub(crate) fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Marks the first `count` bytes as consumed.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Waits for a whole header block. When the server stops, a request of which nothing has come is not
    /// waited for.
    pub(crate) fn head(
        &mut self,
        from: &TcpStream,
        stop: &CancelToken,
        limits: &Limits,
    ) -> io::Result<RequestHead> {
        let (mut searched, mut begun, mut deadline) = (0, false, None);
        loop {
            let empty = empty_lines(self.filled());
            if empty > 0 {
                self.consume(empty);
                searched = 0;
            }
            match scan(self.filled(), searched, limits) {
                Scan::Whole(length) => return Ok(RequestHead::Complete(length)),
                Scan::Wrong(status) => return Ok(RequestHead::Refused(status)),
                Scan::Part => searched = self.filled().len(),
            }
            begun |= searched > 0;
            let received = if begun {
                let deadline = *deadline.get_or_insert_with(|| after(limits.head_time));
                self.receive_by(from, deadline)
            } else {
                self.receive_first(from, stop, limits.idle_time)
            };
            match received {
                Ok(0) => return Ok(RequestHead::Closed),
                Ok(_) => begun = true,
                Err(error) if is_timeout(&error) => return Ok(RequestHead::Refused(Status::RequestTimeout)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads `count` bytes of a body and drops them; `false` if they do not come in time.
    pub(crate) fn discard(&mut self, from: &TcpStream, mut count: u64, limits: &Limits) -> io::Result<bool> {
        let deadline = after(limits.head_time);
        loop {
            let here = count.min(self.filled().len() as u64);
            self.consume(here as usize);
            count -= here;
            if count == 0 {
                return Ok(true);
            }
            match self.receive_by(from, deadline) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the sending side, then reads and drops what the peer still sends for a while: closing at once
    /// would reset the connection, and the peer might never see the answer.
    pub(crate) fn linger(&mut self, from: &TcpStream, limits: &Limits) {
        let deadline = after(limits.linger_time);
        if from.shutdown(Shutdown::Write).is_err() {
            return;
        }
        loop {
            self.start = self.end;
            if !matches!(self.receive_by(from, deadline), Ok(1..)) {
                return;
            }
        }
    }

    /// Receives the first bytes of a request, for at most `idle_time`. A stop ends the wait as if the peer
    /// had closed, but what has come by then is received. 0 at the end of the stream.
    fn receive_first(
        &mut self,
        mut from: &TcpStream,
        stop: &CancelToken,
        idle_time: Duration,
    ) -> io::Result<usize> {
        let space = self.space();
        from.set_read_timeout(Some(idle_time))?;
        let count = match stop.run(|| from.read(space)) {
            Ok(received) => received?,
            Err(Cancelled) => {
                // The read after it does not wait. An error means that the connection has ended by itself.
                let _ = from.shutdown(Shutdown::Read);
                from.read(space)?
            }
        };
        self.end += count;
        Ok(count)
    }

    /// Receives more, until `deadline` if there is one. 0 at the end of the stream.
    fn receive_by(&mut self, mut from: &TcpStream, deadline: Option<Instant>) -> io::Result<usize> {
        let time = deadline.map(|deadline| deadline.saturating_duration_since(lamprey::sim::now()));
        if time.is_some_and(|time| time.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        from.set_read_timeout(time)?;
        let count = from.read(self.space())?;
        self.end += count;
        Ok(count)
    }

    /// Room for more bytes, never empty.
    fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.bytes.len() && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        } else if self.end == self.bytes.len() {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
        &mut self.bytes[self.end..]
    }
}

/// The instant `time` from now; `None` if the clock does not go so far, which is no limit.
fn after(time: Duration) -> Option<Instant> {
    lamprey::sim::now().checked_add(time)
}

fn is_timeout(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
