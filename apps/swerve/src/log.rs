//! The access log: one line for each request, in the common log format, times in UTC.
//!
//! Invariant: a request never waits for the reader of the log. Lines go to a buffer in memory, and an OS
//! thread writes them out, because a write to standard output may block for ever. Lines that do not fit into
//! [`ROOM`] bytes are dropped, and the log says how many.

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use lamprey::sync::{Condvar, LockError, Mutex, MutexGuard};

use crate::date::DateText;
use crate::status::Status;

/// The most bytes that wait to be written.
const ROOM: usize = 1024 * 1024;

/// Takes lines.
pub(crate) struct Log {
    queue: Arc<LineQueue>,
}

#[derive(Default)]
struct LineQueue {
    lines: Mutex<Lines>,
    /// There is something to write, or the log is closed.
    more: Condvar,
    /// The writer has ended.
    ended: Condvar,
}

/// Lines that are not written yet.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    dropped: u64,
    closed: bool,
    ended: bool,
}

/// The guard, also after a panic of another holder, which leaves at worst a part of a line. `None` on a host
/// that unwinds and would have to wait.
fn guard<G>(locked: Result<G, LockError<G>>) -> Option<G> {
    locked.map_or_else(LockError::into_guard, Some)
}

impl Log {
    /// Writes to `out` on an OS thread.
    pub(crate) fn start(out: impl Write + Send + 'static) -> std::io::Result<Log> {
        let queue = Arc::new(LineQueue::default());
        let log = Log { queue: queue.clone() };
        std::thread::Builder::new().name("access log".into()).spawn(move || queue.write_to(out))?;
        Ok(log)
    }

    /// Waits until all lines are written and the writer has ended, for at most `limit`. Later lines are lost.
    pub(crate) fn finish(&self, limit: Duration) {
        let Some(mut lines) = guard(self.queue.lines.lock()) else { return };
        lines.closed = true;
        self.queue.more.notify_one();
        let _ = self.queue.ended.wait_timeout_while(lines, limit, |lines| !lines.ended);
    }

    /// Adds the line of one request.
    pub(crate) fn line(&self, peer: IpAddr, date: &DateText, request: &[u8], status: Status, bytes: u64) {
        let Some(mut lines) = guard(self.queue.lines.lock()) else { return };
        if lines.bytes.len() + request.len() > ROOM {
            lines.dropped += 1;
            return;
        }
        let was_empty = lines.bytes.is_empty();
        append(&mut lines.bytes, peer, date, request, status, bytes);
        drop(lines);
        if was_empty {
            self.queue.more.notify_one();
        }
    }
}

impl LineQueue {
    fn write_to(&self, mut out: impl Write) {
        let mut bytes = Vec::new();
        while let Some((dropped, closed)) = self.take(&mut bytes) {
            if dropped > 0 {
                let _ = writeln!(bytes, "({dropped} lines dropped: the log is read too slowly)");
            }
            // If standard output is closed, the server goes on without a log.
            let _ = out.write_all(&bytes).and_then(|()| out.flush());
            bytes.clear();
            if closed {
                break;
            }
        }
        if let Some(mut lines) = guard(self.lines.lock()) {
            lines.ended = true;
        }
        self.ended.notify_all();
    }

    /// Waits for lines and swaps them with `empty`. Returns how many were dropped, and whether the log is
    /// closed.
    fn take(&self, empty: &mut Vec<u8>) -> Option<(u64, bool)> {
        let nothing = |lines: &mut Lines| lines.bytes.is_empty() && lines.dropped == 0 && !lines.closed;
        let mut lines: MutexGuard<'_, Lines> =
            guard(self.more.wait_while(guard(self.lines.lock())?, nothing))?;
        std::mem::swap(empty, &mut lines.bytes);
        Some((std::mem::take(&mut lines.dropped), lines.closed))
    }
}

/// Appends a line of the common log format.
fn append(into: &mut Vec<u8>, peer: IpAddr, date: &DateText, request: &[u8], status: Status, bytes: u64) {
    // `Sun, 06 Nov 1994 08:49:37 GMT` has the parts of `06/Nov/1994:08:49:37`.
    let part = |from: usize, to: usize| std::str::from_utf8(&date[from..to]).unwrap_or("?");
    let (day, month, year, time) = (part(5, 7), part(8, 11), part(12, 16), part(17, 25));
    let _ = write!(into, "{peer} - - [{day}/{month}/{year}:{time} +0000] \"");
    quote(request, into);
    let _ = writeln!(into, "\" {} {bytes}", status.code());
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

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
