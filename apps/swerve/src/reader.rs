//! Bytes from a peer: one header block at a time, within its limits of length and time.
//!
//! Invariant: `bytes[start..end]` is what was received and is not consumed. The buffer stays under twice the
//! longest header block, so a peer can use no more memory than that; pipelined requests wait in it.

use std::io::{self, Read};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use lamprey::event::{Event, prefer};
use lamprey::net::TcpStream;

use crate::config::Limits;
use crate::status::Status;
use crate::stop::StopSignal;

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
        stop: &StopSignal,
        limits: &Limits,
    ) -> io::Result<RequestHead> {
        let (mut searched, mut begun, mut deadline) = (0, false, None);
        loop {
            if searched == 0 {
                // Blank lines before a request are allowed, and ignored.
                let blank = self.filled().iter().take_while(|byte| b"\r\n".contains(byte)).count();
                self.consume(blank);
            }
            match scan(self.filled(), searched, limits) {
                Scan::Whole(length) => return Ok(RequestHead::Complete(length)),
                Scan::Wrong(status) => return Ok(RequestHead::Refused(status)),
                Scan::Part => searched = self.filled().len(),
            }
            begun |= searched > 0;
            let received = if begun {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + limits.head_time);
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
        let deadline = Instant::now() + limits.head_time;
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
        let deadline = Instant::now() + limits.linger_time;
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
        stop: &StopSignal,
        idle_time: Duration,
    ) -> io::Result<usize> {
        let space = self.space();
        // The choice has the time limit.
        from.set_read_timeout(None)?;
        let next = prefer((from.read_evt(space).wrap(Some), stop.wait_evt().wrap(|()| None)));
        let count = match next.sync_timeout(idle_time) {
            Some(Some(received)) => received?,
            Some(None) => {
                // From here on a read does not wait. (An error means that the connection has ended by itself.)
                let _ = from.shutdown(Shutdown::Read);
                from.read(space)?
            }
            None => return Err(io::ErrorKind::TimedOut.into()),
        };
        self.end += count;
        Ok(count)
    }

    /// Receives more, until `deadline`. 0 at the end of the stream.
    fn receive_by(&mut self, mut from: &TcpStream, deadline: Instant) -> io::Result<usize> {
        let time = deadline.saturating_duration_since(Instant::now());
        if time.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        from.set_read_timeout(Some(time))?;
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

fn is_timeout(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

/// What the bytes at the front of the buffer are.
enum Scan {
    Whole(usize),
    Part,
    Wrong(Status),
}

/// Looks for the end of the header block; the first `searched` bytes have been searched before.
fn scan(bytes: &[u8], searched: usize, limits: &Limits) -> Scan {
    // Another protocol (TLS, for example) is refused at its first byte, not when its time is over.
    if bytes.first().is_some_and(|byte| !byte.is_ascii_alphanumeric() && !b"!#$%&'*+-.^_`|~".contains(byte)) {
        return Scan::Wrong(Status::BadRequest);
    }
    match end_of_block(bytes, searched.saturating_sub(2)) {
        Some(length) if length > limits.head_bytes => Scan::Wrong(too_long(&bytes[..length])),
        Some(length) => Scan::Whole(length),
        // The line has room for a method and a version beside the target.
        None if bytes.len() > limits.target_bytes + 64 && !bytes.contains(&b'\n') => {
            Scan::Wrong(Status::UriTooLong)
        }
        None if bytes.len() >= limits.head_bytes => Scan::Wrong(too_long(bytes)),
        None => Scan::Part,
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
    use lamprey::net::TcpListener;
    use std::io::Write;

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
        let status = |text: &str| match scan(text.as_bytes(), 0, &limits) {
            Scan::Wrong(status) => status.code(),
            Scan::Whole(_) => 200,
            Scan::Part => 100,
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

    /// A connection: the client's end and the server's.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn a_stop_ends_the_wait_for_a_request() {
        let wait = |stop: &StopSignal| {
            let (_client, server) = pair();
            let head = Reader::new().head(&server, stop, &Limits::default()).unwrap();
            assert!(matches!(head, RequestHead::Closed));
        };
        lamprey::run(|| {
            let stop = StopSignal::new();
            lamprey::scope(|scope| {
                for _ in 0..10 {
                    scope.spawn(|| wait(&stop));
                }
                lamprey::yield_now();
                stop.set();
            });
            wait(&stop);
        });
    }

    #[test]
    fn what_has_come_before_the_stop_is_received() {
        let (mut client, server) = pair();
        client.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let stop = StopSignal::new();
        stop.set();
        let mut reader = Reader::new();
        let mut next = || {
            reader.consume(reader.filled().len());
            reader.head(&server, &stop, &Limits::default()).unwrap()
        };
        assert!(matches!(next(), RequestHead::Complete(18)));
        assert!(matches!(next(), RequestHead::Closed));
    }
}
