//! What has been accepted for standard output or error and is not yet written.
//!
//! # Invariants
//! * Bytes leave the buffer, from its front, only after the kernel has taken them: a thread that is cancelled meanwhile leaves the rest
//!   to the next one that writes or flushes.
//! * It holds at most [`FULL`] bytes when a write begins, unless a host that was unwinding, or was cancelled, has left more.

use super::Held;
use super::stream::{Kind, Stream, is_unsupported};
use crate::driver::pool::{Class, block_async_in};
use crate::driver::readiness::Interest;
use crate::io::waiting::now_or_wait;
use crate::parasite::wait;
use crate::sched;
use rustix::io::Errno;
use std::io;

/// More than this is not kept for the end of a line.
const FULL: usize = 8192;
/// A longer write is accepted in parts.
const LONGEST: usize = 1 << 16;

/// The bytes.
#[derive(Debug, Default)]
pub(super) struct Buffered(pub(super) Vec<u8>);

/// Writes some of the first `count` bytes, and takes them out: on the pool within its call, and not after the wait, which may be
/// abandoned.
async fn write_some(
    out: Held<Buffered>,
    stream: &'static Stream,
    count: usize,
) -> (Held<Buffered>, io::Result<usize>) {
    let written = match stream.kind {
        Kind::Closed => Ok(count),
        Kind::Ready => stream.attempt(Interest::Write, || stream.write_now(&out.0[..count])).await,
        Kind::File => match stream.write_now(&out.0[..count]) {
            Err(error) if error == Errno::AGAIN || is_unsupported(error) => {
                let write = move || {
                    let written = rustix::io::retry_on_intr(|| rustix::io::write(stream, &out.0[..count]));
                    taken_out(out, written.map_err(io::Error::from))
                };
                return block_async_in(Class::Files, write).await;
            }
            written => written.map_err(io::Error::from),
        },
    };
    taken_out(out, written)
}

fn taken_out(mut out: Held<Buffered>, written: io::Result<usize>) -> (Held<Buffered>, io::Result<usize>) {
    out.0.drain(..*written.as_ref().unwrap_or(&0));
    (out, written)
}

/// Writes the first `count` bytes.
async fn drain(
    mut out: Held<Buffered>,
    stream: &'static Stream,
    mut count: usize,
) -> (Held<Buffered>, io::Result<()>) {
    while count > 0 {
        let (left, written) = write_some(out, stream, count).await;
        out = left;
        match written {
            Ok(written) => count -= written,
            Err(error) => return (out, Err(error)),
        }
    }
    (out, Ok(()))
}

/// Writes all.
pub(super) async fn flush(out: Held<Buffered>, stream: &'static Stream) -> (Held<Buffered>, io::Result<()>) {
    let count = out.0.len();
    drain(out, stream, count).await
}

/// Accepts some of `bytes`, and writes: up to the end of the last line if `by_lines`, or all.
pub(super) async fn put(
    mut out: Held<Buffered>,
    stream: &'static Stream,
    by_lines: bool,
    bytes: &[u8],
) -> (Held<Buffered>, io::Result<usize>) {
    if out.0.len() > FULL {
        let (left, result) = flush(out, stream).await;
        out = left;
        if let Err(error) = result {
            return (out, Err(error));
        }
    }
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let before = out.0.len();
    out.0.extend_from_slice(bytes);
    let all = out.0.len();
    let line = out.0.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let count = if by_lines && all - line <= FULL { line } else { all };
    let (mut out, result) = drain(out, stream, count).await;
    let Err(error) = result else { return (out, Ok(bytes.len())) };
    let accepted = refuse(&mut out.0, before, all);
    (out, if accepted > 0 { Ok(accepted) } else { Err(error) })
}

/// After an error: what was accepted earlier, the first `before` of `all` bytes, is kept, and what is left of the others is not
/// accepted. The number of those that have been written.
fn refuse(out: &mut Vec<u8>, before: usize, all: usize) -> usize {
    let gone = all - out.len();
    out.truncate(before.saturating_sub(gone));
    gone.saturating_sub(before)
}

/// [`put`] of all of `bytes`.
pub(super) async fn put_all(
    mut out: Held<Buffered>,
    stream: &'static Stream,
    by_lines: bool,
    mut bytes: &[u8],
) -> (Held<Buffered>, io::Result<()>) {
    while !bytes.is_empty() {
        let (left, result) = put(out, stream, by_lines, bytes).await;
        out = left;
        match result {
            Ok(count) => bytes = &bytes[count..],
            Err(error) => return (out, Err(error)),
        }
    }
    (out, Ok(()))
}

/// [`put_all`] in a blocking call. A host that is unwinding writes what it can without waiting: the rest stays in the buffer.
pub(super) fn put_now(
    mut out: Held<Buffered>,
    stream: &'static Stream,
    by_lines: bool,
    bytes: &[u8],
) -> (Option<Held<Buffered>>, io::Result<()>) {
    if !sched::must_not_block() {
        let (out, result) = wait(put_all(out, stream, by_lines, bytes));
        return (Some(out), result);
    }
    let before = out.0.len();
    out.0.extend_from_slice(bytes);
    let all = out.0.len();
    match now_or_wait(flush(out, stream)) {
        Some((mut out, result)) => {
            if result.is_err() {
                refuse(&mut out.0, before, all);
            }
            (Some(out), result)
        }
        None => (None, Ok(())),
    }
}
