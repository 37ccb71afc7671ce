//! The access log: one line for each request, in the common log format, times in UTC.
//!
//! Invariant: a worker never waits for whoever reads the log. Lines go to a buffer in memory, and a thread of
//! its own writes it out. When more waits than [`ROOM`], lines are dropped, and the log says how many.

use std::io::Write;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::date::Text;
use crate::status::Status;

/// The most bytes that wait to be written.
const ROOM: usize = 1024 * 1024;

/// Takes lines.
pub(crate) struct Log {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// There are bytes to write, or the log is closed.
    more: Condvar,
    /// The writer has ended.
    ended: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    dropped: u64,
    closed: bool,
    ended: bool,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// Writes to `out` from a thread of its own.
    pub(crate) fn start(out: impl Write + Send + 'static) -> std::io::Result<Log> {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        std::thread::Builder::new().name("access log".into()).spawn(move || write_out(&theirs, out))?;
        Ok(Log { shared })
    }

    /// Writes out what waits and ends the writer; gives up after `patience` if nobody reads. Later lines go
    /// nowhere.
    pub(crate) fn finish(&self, patience: Duration) {
        let mut waiting = self.shared.waiting();
        waiting.closed = true;
        self.shared.more.notify_one();
        let _ = self.shared.ended.wait_timeout_while(waiting, patience, |waiting| !waiting.ended);
    }

    /// Adds the line of one request.
    pub(crate) fn line(&self, peer: IpAddr, date: &Text, request: &[u8], status: Status, bytes: u64) {
        let mut waiting = self.shared.waiting();
        if waiting.bytes.len() + request.len() > ROOM {
            waiting.dropped += 1;
            return;
        }
        let was_empty = waiting.bytes.is_empty();
        let into = &mut waiting.bytes;
        // `Sun, 06 Nov 1994 08:49:37 GMT` holds the parts of `06/Nov/1994:08:49:37`.
        let part = |from: usize, to: usize| std::str::from_utf8(&date[from..to]).unwrap_or("?");
        let _ = write!(
            into,
            "{peer} - - [{}/{}/{}:{} +0000] \"",
            part(5, 7),
            part(8, 11),
            part(12, 16),
            part(17, 25)
        );
        quote(request, into);
        let _ = writeln!(into, "\" {} {bytes}", status.code());
        drop(waiting);
        if was_empty {
            self.shared.more.notify_one();
        }
    }
}

/// Appends what a peer sent so that it can neither end the line nor close the quotes.
fn quote(request: &[u8], into: &mut Vec<u8>) {
    if request.is_empty() {
        into.push(b'-');
    }
    for &byte in request {
        match byte {
            b'"' | b'\\' => into.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => into.push(byte),
            _ => {
                let _ = write!(into, "\\x{byte:02x}");
            }
        }
    }
}

fn write_out(shared: &Shared, mut out: impl Write) {
    let mut bytes = Vec::new();
    loop {
        let mut waiting = shared.waiting();
        while waiting.bytes.is_empty() && waiting.dropped == 0 && !waiting.closed {
            waiting = shared.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut bytes, &mut waiting.bytes);
        let (dropped, closed) = (std::mem::take(&mut waiting.dropped), waiting.closed);
        drop(waiting);
        if dropped > 0 {
            let _ = writeln!(bytes, "({dropped} lines dropped: the log is read too slowly)");
        }
        // Nobody may be reading any more; the server goes on without a log then.
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
        bytes.clear();
        if closed {
            shared.waiting().ended = true;
            shared.ended.notify_all();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Passes on what is written, but writes nothing until it is told to.
    struct Slow(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // After the test has dropped its end, writes pass freely.
            let _ = self.0.recv();
            let _ = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(feed: impl FnOnce(&Log)) -> String {
        let (go, wait) = mpsc::channel();
        let (to, from) = mpsc::channel();
        let log = Log::start(Slow(wait, to)).unwrap();
        feed(&log);
        drop(go);
        log.finish(Duration::from_secs(60));
        String::from_utf8(from.iter().flatten().collect()).unwrap()
    }

    const DATE: &Text = b"Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn a_line_is_in_the_common_format() {
        let text = written(|log| {
            log.line("127.0.0.1".parse().unwrap(), DATE, b"GET /a HTTP/1.1", Status::Ok, 12);
            log.line("::1".parse().unwrap(), DATE, b"", Status::BadRequest, 0);
        });
        assert_eq!(
            text,
            "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a HTTP/1.1\" 200 12\n::1 - - [06/Nov/1994:08:49:37 +0000] \"-\" 400 0\n"
        );
    }

    #[test]
    fn nobody_reads_and_the_end_comes_all_the_same() {
        let (_go, wait) = mpsc::channel();
        let log = Log::start(Slow(wait, mpsc::channel().0)).unwrap();
        log.line("::1".parse().unwrap(), DATE, b"", Status::BadRequest, 0);
        log.finish(Duration::from_millis(10));
    }

    #[test]
    fn a_request_cannot_forge_a_line() {
        let text = written(|log| {
            log.line("127.0.0.1".parse().unwrap(), DATE, b"GET /\" 200 1\n\x1b[2J\\ \xff", Status::Ok, 1);
        });
        assert!(text.contains(r#""GET /\" 200 1\x0a\x1b[2J\\ \xff" 200 1"#), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn a_reader_that_is_too_slow_loses_lines_and_is_told() {
        let text = written(|log| {
            for _ in 0..4 * ROOM / 1000 {
                log.line("127.0.0.1".parse().unwrap(), DATE, &[b'x'; 1000], Status::Ok, 1);
            }
        });
        assert!(text.contains(" lines dropped: the log is read too slowly)\n"));
        assert!(text.len() < 3 * ROOM);
    }
}
