//! Bytes from a peer: one header block at a time, within its limits of length and time.
//!
//! Invariant: `bytes[start..end]` is what was received and not yet used. The buffer stays under twice the
//! longest header block, so a peer can hold no more memory than that; pipelined requests wait in it.

use std::io::{self, Read};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use crate::config::Limits;
use crate::live::Peer;
use crate::status::Status;

/// What the buffer starts with: enough for what browsers send.
const FIRST: usize = 4096;

/// What came of waiting for a request.
pub(crate) enum Head {
    /// A header block of this many bytes is at the front of [`Reader::filled`].
    Complete(usize),
    /// It will not come; this is the answer.
    Refused(Status),
    /// The peer has gone.
    Gone,
}

pub(crate) struct Reader {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The read timeout that the socket has now.
    patience: Duration,
}

impl Reader {
    pub(crate) fn new() -> Reader {
        Reader { bytes: vec![0; FIRST], start: 0, end: 0, patience: Duration::ZERO }
    }

    /// What was received and not yet used.
    pub(crate) fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Marks the first `count` bytes as used.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Waits for a whole header block.
    pub(crate) fn head(&mut self, from: &Peer, limits: &Limits) -> io::Result<Head> {
        let (mut searched, mut begun, mut deadline) = (0, false, None);
        loop {
            if searched == 0 {
                // Blank lines before a request are allowed, and nothing.
                let blank = self.filled().iter().take_while(|byte| b"\r\n".contains(byte)).count();
                self.consume(blank);
            }
            match examine(self.filled(), searched, limits) {
                Found::Whole(length) => return Ok(Head::Complete(length)),
                Found::Wrong(status) => return Ok(Head::Refused(status)),
                Found::Part => searched = self.filled().len(),
            }
            begun |= searched > 0;
            let received = if begun {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + limits.head_time);
                self.fill_by(from, deadline)
            } else {
                from.idle(|| self.fill(from, limits.idle_time))
            };
            match received {
                Ok(0) => return Ok(Head::Gone),
                Ok(_) => begun = true,
                Err(error) if is_timeout(&error) => return Ok(Head::Refused(Status::RequestTimeout)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads `count` bytes of a body and throws them away; `false` if they do not come in time.
    pub(crate) fn discard(&mut self, from: &Peer, mut count: u64, limits: &Limits) -> io::Result<bool> {
        let deadline = Instant::now() + limits.head_time;
        loop {
            let here = count.min(self.filled().len() as u64);
            self.consume(here as usize);
            count -= here;
            if count == 0 {
                return Ok(true);
            }
            match self.fill_by(from, deadline) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the sending side, then reads and drops what the peer still sends for a while: closing at once
    /// would reset the connection, and the peer might never see the answer.
    pub(crate) fn linger(&mut self, from: &Peer, limits: &Limits) {
        let deadline = Instant::now() + limits.linger_time;
        if from.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        loop {
            self.start = self.end;
            if !matches!(self.fill_by(from, deadline), Ok(1..)) {
                return;
            }
        }
    }

    /// Receives more until `deadline`.
    fn fill_by(&mut self, from: &Peer, deadline: Instant) -> io::Result<usize> {
        let patience = deadline.saturating_duration_since(Instant::now());
        if patience.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { self.fill(from, patience) }
    }

    /// Receives more, for at most `patience` (not zero). 0 at the end of the stream.
    fn fill(&mut self, from: &Peer, patience: Duration) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.bytes.len() {
            self.make_room();
        }
        if self.patience != patience {
            from.stream.set_read_timeout(Some(patience))?;
            self.patience = patience;
        }
        loop {
            match (&from.stream).read(&mut self.bytes[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        } else {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

enum Found {
    Whole(usize),
    Part,
    Wrong(Status),
}

/// Looks for the end of the header block; the first `searched` bytes were looked at before.
fn examine(bytes: &[u8], searched: usize, limits: &Limits) -> Found {
    // Another protocol (TLS, say) is refused at its first byte, not when its time is over.
    if bytes.first().is_some_and(|byte| !byte.is_ascii_alphanumeric() && !b"!#$%&'*+-.^_`|~".contains(byte)) {
        return Found::Wrong(Status::BadRequest);
    }
    match end_of_block(bytes, searched.saturating_sub(2)) {
        Some(length) if length > limits.head_bytes => Found::Wrong(too_long(&bytes[..length])),
        Some(length) => Found::Whole(length),
        // The line has room for a method and a version beside the target.
        None if bytes.len() > limits.target_bytes + 64 && !bytes.contains(&b'\n') => {
            Found::Wrong(Status::UriTooLong)
        }
        None if bytes.len() >= limits.head_bytes => Found::Wrong(too_long(bytes)),
        None => Found::Part,
    }
}

/// Whether it is the first line or the fields that are too long.
fn too_long(block: &[u8]) -> Status {
    if block.contains(&b'\n') { Status::HeadersTooLarge } else { Status::UriTooLong }
}

/// The length up to and with the first empty line that ends at or after `from`.
fn end_of_block(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|&byte| byte == b'\n') {
        at += found + 1;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_wherever_the_pieces_are_cut() {
        for (block, rest) in
            [("GET / HTTP/1.1\r\nA: b\r\n\r\n", "GET"), ("GET / HTTP/1.0\n\n", "\n"), ("G\r\n\n", "x")]
        {
            let all = format!("{block}{rest}");
            for cut in 0..block.len() {
                assert_eq!(end_of_block(&all.as_bytes()[..cut], 0), None, "{block:?} cut at {cut}");
                assert_eq!(
                    end_of_block(all.as_bytes(), cut.saturating_sub(2)),
                    Some(block.len()),
                    "{block:?} cut at {cut}"
                );
            }
        }
    }

    #[test]
    fn limits_tell_a_long_line_from_long_fields() {
        let limits = Limits { head_bytes: 1000, target_bytes: 500, ..Limits::default() };
        let status = |text: &str| match examine(text.as_bytes(), 0, &limits) {
            Found::Wrong(status) => status.code(),
            Found::Whole(_) => 200,
            Found::Part => 100,
        };
        assert_eq!(status(&"x".repeat(564)), 100);
        assert_eq!(status(&"x".repeat(565)), 414);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}", "x".repeat(983))), 100);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}", "x".repeat(984))), 431);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n\r\n", "x".repeat(980))), 200);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n\r\n", "x".repeat(981))), 431);
        assert_eq!(status("\x16\x03\x01"), 400);
        assert_eq!(status(""), 100);
    }
}
