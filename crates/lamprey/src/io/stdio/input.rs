//! Standard input.
//!
//! # Invariants
//! * What has been read from the descriptor is in the buffer until a call takes it: no byte is in a future or on a stack while a
//!   thread waits, so a call that is cancelled or dropped loses nothing.

use super::lines::Lines;
use super::stream::{Kind, Stream, is_unsupported};
use super::{Held, hold, hold_async, unwinding};
use crate::driver::pool::{Class, block_async_in};
use crate::driver::readiness::Interest;
use crate::events::{FutureEvt, future_evt};
use crate::io::waiting::{now_or_wait, result_or_wait};
use crate::io::whole::reads_whole;
use crate::kernel::fork::PerProcess;
use crate::sync::Mutex;
use crate::world;
use rustix::io::Errno;
use std::future::Future;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Read};
use std::os::fd::{AsFd, BorrowedFd};

/// How much is read at once.
const CHUNK: usize = 8192;

/// Of a child made by `fork`, too: what its parent has read already is its parent's, and so is a lock that the parent's threads have.
static STREAM: PerProcess<Stream> = PerProcess::made_by(|| Stream::new(io::stdin(), Interest::Read));
static INPUT: PerProcess<Mutex<Input>> = PerProcess::new();

/// What has been read and not yet taken: `bytes[start..]`.
#[derive(Debug, Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    start: usize,
}

impl Input {
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.start = self.bytes.len().min(self.start + count);
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
    }

    fn append(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize, Errno>) -> Result<usize, Errno> {
        self.bytes.drain(..self.start);
        self.start = 0;
        let before = self.bytes.len();
        self.bytes.resize(before + CHUNK, 0);
        let result = read(&mut self.bytes[before..]);
        self.bytes.truncate(before + *result.as_ref().unwrap_or(&0));
        result
    }
}

/// Adds to the buffer what there is; 0 bytes at the end.
pub(super) async fn more(mut input: Held<Input>) -> (Held<Input>, io::Result<usize>) {
    let stream = STREAM.get();
    let result = match stream.kind {
        Kind::Closed => Ok(0),
        Kind::Ready => stream.attempt(Interest::Read, || input.append(|space| stream.read_now(space))).await,
        Kind::File => match input.append(|space| stream.read_now(space)) {
            Err(error) if error == Errno::AGAIN || is_unsupported(error) => {
                let read = move || {
                    let result = input
                        .append(|space| rustix::io::retry_on_intr(|| rustix::io::read(stream, &mut *space)));
                    (input, result.map_err(io::Error::from))
                };
                return block_async_in(Class::Files, read).await;
            }
            result => result.map_err(io::Error::from),
        },
    };
    (input, at_end(result))
}

/// An input that is closed, or only for writing, is at its end, as for `std`.
fn at_end(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => Ok(0),
        result => result,
    }
}

pub(super) async fn held() -> io::Result<Held<Input>> {
    if world::is_simulated() {
        let text = "a simulation has no standard input: give the program a reader of your own, for example a pipe's or a socket's";
        return Err(io::Error::new(ErrorKind::Unsupported, text));
    }
    hold_async(INPUT.get()).await
}

/// The standard input of the process: [`std::io::stdin`] that blocks only the calling host, can be waited for in async code and
/// in a choice, and is left by a host that is cancelled or out of time.
///
/// The buffer is shared by all threads of the process, but not with `std::io::stdin`: use one of the two.
///
/// # Examples
/// ```no_run
/// use std::time::Duration;
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// for line in lamprey::io::stdin().lines() {
///     println!("you said {}", line?);
/// }
/// // Nobody has to answer:
/// let answer = lamprey::with_timeout(Duration::from_secs(10), || lamprey::io::stdin().lines().next());
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub fn stdin() -> Stdin {
    Stdin(())
}

/// Standard input: see [`stdin`].
///
/// A regular file that is not in the page cache is read on the pool for files.
///
/// # Errors
/// All calls: the system's; `Unsupported` in a simulation; `WouldBlock` on a host that is unwinding, if it would have to wait. A
/// standard input that is closed is at its end.
///
/// # Cancellation
/// A call that is cancelled takes nothing: what had been read for it is there for the next call. (`read_exact` and `read_to_end`
/// consist of several reads.)
///
/// # Blocking
/// A host or stackful parasite switches away, an OS thread parks, while there is nothing to read or another thread reads.
#[derive(Debug, Clone, Copy)]
pub struct Stdin(());

impl Stdin {
    /// Keeps all other threads away until the lock is dropped, or a call through it is cancelled. The thread itself must use the lock
    /// meanwhile: another call of [`stdin`] waits for ever.
    ///
    /// # Panics
    /// In a simulation, which has no standard input; on a host that is unwinding, if another thread has the lock.
    pub fn lock(&self) -> StdinLock {
        assert!(!world::is_simulated(), "a simulation has no standard input");
        StdinLock { held: Some(hold(INPUT.get()).unwrap_or_else(|error| panic!("{error}"))) }
    }

    /// The lines, without their ends; other threads may take lines in between.
    pub fn lines(&self) -> Lines {
        Lines::new()
    }

    /// Appends a line with its end to `line`, and returns the number of bytes; 0 at the end of the input.
    ///
    /// # Errors
    /// `InvalidData` if the line is not UTF-8; it is then left out. Those of [`Stdin`].
    pub fn read_line(&self, line: &mut String) -> io::Result<usize> {
        result_or_wait(super::STREAM, self.read_line_async(line))
    }

    /// [`read_line`](Self::read_line) in async code.
    ///
    /// # Errors
    /// As `read_line`.
    pub async fn read_line_async(&self, line: &mut String) -> io::Result<usize> {
        let next = super::lines::next().await?;
        line.push_str(&next);
        Ok(next.len())
    }

    /// The next line, without its end, as an event; `None` at the end of the input. A line that another event of the choice has
    /// left behind is there for the next call.
    ///
    /// # Examples
    /// ```no_run
    /// use lamprey::event::{Event, choose, timeout};
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| {
    /// let line = lamprey::io::stdin().line_evt();
    /// let answer = choose((line.wrap(|line| line.ok().flatten()), timeout(Duration::from_secs(10)).wrap(|()| None))).sync();
    /// # });
    /// ```
    pub fn line_evt(&self) -> FutureEvt<impl Future<Output = io::Result<Option<String>>> + Send + use<>> {
        future_evt(async { Lines::new().next_async().await.transpose() })
    }

    /// [`Read::read`] in async code.
    ///
    /// # Errors
    /// See [`Stdin`].
    pub async fn read_async(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut input = held().await?;
        if input.rest().is_empty() && !buf.is_empty() {
            let (filled, result) = more(input).await;
            input = filled;
            result?;
        }
        Ok(take(&mut input, buf))
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }
}

reads_whole!(Stdin);

/// Moves from the buffer to `buf`.
fn take(input: &mut Input, buf: &mut [u8]) -> usize {
    let count = input.rest().len().min(buf.len());
    buf[..count].copy_from_slice(&input.rest()[..count]);
    input.consume(count);
    count
}

impl Read for &Stdin {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        result_or_wait(super::STREAM, self.read_async(buf))
    }
}

impl Read for Stdin {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buf)
    }
}

impl AsFd for Stdin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        STREAM.get().as_fd()
    }
}

/// Standard input while other threads are kept away from it: by [`Stdin::lock`]. A call through it that is cancelled gives the lock
/// up; the next call takes it again.
#[derive(Debug)]
pub struct StdinLock {
    /// `None` after a call was cancelled: the next call locks again.
    held: Option<Held<Input>>,
}

impl Read for StdinLock {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.fill_buf()?;
        Ok(self.held.as_mut().map_or(0, |input| take(input, buf)))
    }
}

impl BufRead for StdinLock {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let mut input = self.held.take().map_or_else(|| hold(INPUT.get()), Ok)?;
        let mut result = Ok(0);
        if input.rest().is_empty() {
            (input, result) = now_or_wait(more(input)).ok_or_else(unwinding)?;
        }
        let input = self.held.insert(input);
        result.map(|_| input.rest())
    }

    fn consume(&mut self, count: usize) {
        if let Some(input) = &mut self.held {
            input.consume(count);
        }
    }
}
