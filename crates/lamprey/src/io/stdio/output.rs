//! Standard output and error: the handles.

use super::buffered::{Buffered, flush, put, put_all, put_now};
use super::stream::Stream;
use super::{Held, hold, hold_async, unwinding};
use crate::driver::readiness::Interest;
use crate::io::waiting::now_or_wait;
use crate::kernel::fork::PerProcess;
use crate::sleep::with_timeout_async;
use crate::sync::Mutex;
use crate::world;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// How long the end of a runtime waits for a reader that takes nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Of a child made by `fork`, too: what is in its parent's buffer its parent writes, and so once.
static STDOUT: PerProcess<Stream> = PerProcess::made_by(|| Stream::new(io::stdout(), Interest::Write));
static STDERR: PerProcess<Stream> = PerProcess::made_by(|| Stream::new(io::stderr(), Interest::Write));
static OUT: PerProcess<Mutex<Buffered>> = PerProcess::new();
static ERR: PerProcess<Mutex<Buffered>> = PerProcess::new();

/// The standard output of the process: [`std::io::stdout`] that blocks only the calling host, however slow the reader.
///
/// Each line is written when it is whole, as by `std`; the rest by [`flush`](Write::flush), and when a runtime ends. `write!` and
/// `writeln!` keep their text together. `println!` and `std::io::stdout` have a buffer of their own, and stop the worker while
/// the reader is slow.
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// lamprey::run(|| writeln!(lamprey::io::stdout(), "hello"))?;
/// # std::io::Result::Ok(())
/// ```
pub fn stdout() -> Stdout {
    Stdout(())
}

/// The standard error of the process, as [`stdout`]; nothing is kept for the end of a line.
pub fn stderr() -> Stderr {
    Stderr(())
}

/// Writes what is left in the buffers when a runtime ends. Gives up when the reader takes nothing for [`PATIENCE`], or another
/// thread holds the lock for a second.
pub(crate) fn flush_at_end() {
    for (buffer, stream) in [(&OUT, &STDOUT), (&ERR, &STDERR)] {
        let mut left = usize::MAX;
        loop {
            let last = left;
            let flushed = async {
                let held = with_timeout_async(Duration::from_secs(1), hold_async(buffer.get())).await;
                let Ok(Ok(out)) = held else { return };
                left = out.0.len();
                // Not for nothing: it would be the first use of the stream.
                if 0 < left && left < last {
                    let _ = flush(out, stream.get()).await;
                }
            };
            let in_time = now_or_wait(with_timeout_async(PATIENCE, flushed));
            if !matches!(in_time, Some(Err(_))) || left == last {
                break;
            }
        }
    }
}

fn unformatted(text: &mut String, arguments: fmt::Arguments<'_>) -> io::Result<()> {
    fmt::write(text, arguments)
        .map_err(|_| io::Error::other("a Display or Debug implementation returned an error"))
}

macro_rules! output {
    ($name:ident, $lock:ident, $buffer:ident, $stream:ident, $std:ident, $by_lines:expr, $doc:expr) => {
        #[doc = $doc]
        ///
        /// In a simulation it writes as `std` does.
        ///
        /// # Errors
        /// All calls: the system's, for example `BrokenPipe`. Bytes that were accepted earlier are tried again by the next call.
        /// What is written to a descriptor that was closed at the first write is thrown away.
        ///
        /// # Cancellation
        /// The commit point of a write is that its bytes are in the buffer, before it waits for the reader: they are written by the
        /// next call of any thread, or when a runtime ends (which waits up to 10 s for a reader that takes nothing). More than 64 KiB
        /// are accepted in parts: a longer `write_all` that is cancelled may leave some of them.
        ///
        /// # Blocking
        /// A host or stackful parasite switches away, an OS thread parks, while the reader is slow or another thread writes. A host
        /// that is unwinding writes what it can without waiting, and leaves the rest in the buffer.
        #[derive(Debug, Clone, Copy)]
        pub struct $name(());

        impl $name {
            /// Keeps all other threads away until the lock is dropped, or a call through it is cancelled. The thread itself must write
            /// through the lock meanwhile: it is no re-entrant lock, as that of `std` is, and another call waits for ever.
            ///
            /// # Panics
            /// On a host that is unwinding, if another thread has the lock.
            pub fn lock(&self) -> $lock {
                self.locked().unwrap_or_else(|error| panic!("{error}"))
            }

            fn locked(&self) -> io::Result<$lock> {
                hold($buffer.get()).map(|held| $lock { held: Some(held) })
            }

            /// [`Write::write`] in async code.
            ///
            /// # Errors
            /// See the type.
            pub async fn write_async(&self, bytes: &[u8]) -> io::Result<usize> {
                if world::is_simulated() {
                    return io::$std().write(bytes);
                }
                put(hold_async($buffer.get()).await?, $stream.get(), $by_lines, bytes).await.1
            }

            /// [`Write::write_all`] in async code. The bytes stay together.
            ///
            /// # Errors
            /// See the type.
            pub async fn write_all_async(&self, bytes: &[u8]) -> io::Result<()> {
                if world::is_simulated() {
                    return io::$std().write_all(bytes);
                }
                put_all(hold_async($buffer.get()).await?, $stream.get(), $by_lines, bytes).await.1
            }

            /// [`Write::flush`] in async code.
            ///
            /// # Errors
            /// See the type.
            pub async fn flush_async(&self) -> io::Result<()> {
                if world::is_simulated() {
                    return io::$std().flush();
                }
                flush(hold_async($buffer.get()).await?, $stream.get()).await.1
            }

            /// Whether it is a terminal.
            pub fn is_terminal(&self) -> bool {
                io::$std().is_terminal()
            }
        }

        impl Write for &$name {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.locked()?.write(bytes)
            }

            fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
                self.locked()?.write_all(bytes)
            }

            fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
                // Formatted first: a `Display` may block, or write here itself.
                let mut text = String::new();
                let formatted = unformatted(&mut text, arguments);
                self.write_all(text.as_bytes()).and(formatted)
            }

            fn flush(&mut self) -> io::Result<()> {
                self.locked()?.flush()
            }
        }

        impl Write for $name {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                (&*self).write(bytes)
            }

            fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
                (&*self).write_all(bytes)
            }

            fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
                (&*self).write_fmt(arguments)
            }

            fn flush(&mut self) -> io::Result<()> {
                (&*self).flush()
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                $stream.get().as_fd()
            }
        }

        #[doc = concat!("[`", stringify!($name), "`] while other threads are kept away from it: by [`", stringify!($name), "::lock`]. A call through it that is cancelled gives the lock up; the next call takes it again.")]
        #[derive(Debug)]
        pub struct $lock {
            /// `None` after a call was cancelled: the next call locks again.
            held: Option<Held<Buffered>>,
        }

        impl $lock {
            fn held(&mut self) -> io::Result<Held<Buffered>> {
                self.held.take().map_or_else(|| hold($buffer.get()), Ok)
            }
        }

        impl Write for $lock {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.write_all(bytes).map(|()| bytes.len())
            }

            fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
                if world::is_simulated() {
                    return io::$std().write_all(bytes);
                }
                let (held, result) = put_now(self.held()?, $stream.get(), $by_lines, bytes);
                self.held = held;
                result
            }

            fn flush(&mut self) -> io::Result<()> {
                if world::is_simulated() {
                    return io::$std().flush();
                }
                let (held, result) = now_or_wait(flush(self.held()?, $stream.get())).ok_or_else(unwinding)?;
                self.held = Some(held);
                result
            }
        }
    };
}

output!(Stdout, StdoutLock, OUT, STDOUT, stdout, true, "Standard output: see [`stdout`].");
output!(Stderr, StderrLock, ERR, STDERR, stderr, false, "Standard error: see [`stderr`].");
