//! Standard input, output and error, which block only the calling host.
//!
//! | file | content |
//! |---|---|
//! | `stream` | one of the three descriptors: read and write without waiting in the kernel |
//! | `input`, `lines` | [`stdin`]: the buffer, its lock, lines |
//! | `output`, `buffered` | [`stdout`], [`stderr`]: the handles; the bytes that wait to be written |
//!
//! # Rejected
//! * `O_NONBLOCK` on descriptors 0 to 2: the mode belongs to the open file, which the shell and other processes share; they
//!   would fail with `EAGAIN`.
//! * A thread for each of them: it could not be cancelled in `read(2)`, and what it has read for a host that is gone would need
//!   the same buffer.

mod buffered;
mod input;
mod lines;
mod output;
mod stream;

use super::waiting;
use crate::sync::{Mutex, MutexGuard};
pub use input::{Stdin, StdinLock, stdin};
pub use lines::Lines;
pub(crate) use output::flush_at_end;
pub use output::{Stderr, StderrLock, Stdout, StdoutLock, stderr, stdout};
use std::io;

/// A buffer while it is locked. The pool's threads take it along, so that a call there and the buffer agree, whoever waits.
type Held<B> = MutexGuard<'static, B>;

/// Locks `buffer`. A thread that was cancelled, or has panicked, while it held a buffer has left it whole.
///
/// # Errors
/// `WouldBlock` on a host that is unwinding, if another thread holds it.
async fn hold_async<B>(buffer: &'static Mutex<B>) -> io::Result<Held<B>> {
    buffer.lock_async().await.or_else(|error| error.into_guard().ok_or_else(unwinding))
}

/// The blocking form of [`hold_async`].
fn hold<B>(buffer: &'static Mutex<B>) -> io::Result<Held<B>> {
    buffer.lock().or_else(|error| error.into_guard().ok_or_else(unwinding))
}

const STREAM: &str = "a standard stream";

fn unwinding() -> io::Error {
    waiting::unwinding(STREAM)
}
