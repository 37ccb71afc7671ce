//! What a read or a write transfers without waiting, and how much of it before others may run; [`NotNow`]: why it does not.

use super::{File, Kind};
pub(super) use crate::kernel::no_wait::CURSOR;
use crate::kernel::no_wait::{read, write};
use crate::sched::coop;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use std::io;
use std::ops::Range;

/// The most bytes that one system call at an offset reads or writes without waiting.
pub(super) const CHUNK: usize = 256 << 10;

/// The most bytes that one system call at the cursor reads or writes without waiting.
const LARGEST: usize = 1 << 20;

/// Why a call was not made without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotNow {
    /// It would wait.
    Waits,
    /// The kernel cannot tell, for files of this kind or at all: the call may wait for ever, and on a thread of the kernel's.
    Untold,
    /// The call is to be made as it is: because it was interrupted or refused, or because of the file ([`Kind`]).
    Plain,
}

impl File {
    /// Reads as much as is possible without waiting, from an offset or from the cursor.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read_chunks(&self, buf: &mut [u8], from: Option<u64>) -> Result<io::Result<usize>, NotNow> {
        let file = self.that_may_not_wait()?;
        if buf.is_empty() {
            coop::call(coop::SYSTEM);
            return unless_it_waits(read_nothing(file, from.unwrap_or(CURSOR)));
        }
        unless_it_waits(in_chunks(buf.len(), from, |range, at| read(file, &mut buf[range], at)))
    }

    /// Writes as much as is possible without waiting, at an offset or at the cursor.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write_chunks(&self, buf: &[u8], from: Option<u64>) -> Result<io::Result<usize>, NotNow> {
        let file = self.that_may_not_wait()?;
        unless_it_waits(in_chunks(buf.len(), from, |range, at| write(file, &buf[range], at)))
    }

    /// One system call of a future.
    pub(super) fn read_chunk(&self, buf: &mut [u8], at: u64) -> Result<io::Result<usize>, NotNow> {
        let file = self.that_may_not_wait()?;
        unless_it_waits(if buf.is_empty() { read_nothing(file, at) } else { read(file, buf, at) })
    }

    /// One system call of a future.
    pub(super) fn write_chunk(&self, buf: &[u8], at: u64) -> Result<io::Result<usize>, NotNow> {
        unless_it_waits(write(self.that_may_not_wait()?, buf, at))
    }

    #[inline]
    fn that_may_not_wait(&self) -> Result<&std::fs::File, NotNow> {
        if matches!(self.kind, Kind::Plain) { Ok(&self.file) } else { Err(NotNow::Plain) }
    }
}

/// A read into no room. `read(2)` refuses a directory even then, and the call with several pieces, which is made here, does not look.
#[cold]
fn read_nothing(file: &std::fs::File, at: u64) -> Result<usize, Errno> {
    let count = read(file, &mut [], at)?;
    let is_directory = FileType::from_raw_mode(fstat(file)?.st_mode).is_dir();
    if is_directory { Err(Errno::ISDIR) } else { Ok(count) }
}

/// Calls `operation` for each [`CHUNK`] of `length` bytes until one is not transferred in full, and lets
/// other threads run in between. At the cursor (no `from`) it makes one call.
#[cfg_attr(not(debug_assertions), inline(always))]
fn in_chunks(
    length: usize,
    from: Option<u64>,
    mut operation: impl FnMut(Range<usize>, u64) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    coop::call(if length < CHUNK { coop::SYSTEM } else { coop::COPY });
    let Some(from) = from else {
        // One call, because other threads may move the cursor too.
        return operation(0..length.min(LARGEST), CURSOR);
    };
    let mut done = 0;
    loop {
        let end = length.min(done + CHUNK);
        let at = from.saturating_add(done as u64);
        match operation(done..end, at) {
            Ok(count) => done += count,
            // Reports the bytes that have been transferred.
            Err(_) if done != 0 => return Ok(done),
            Err(error) => return Err(error),
        }
        if done < end || done == length || !coop::call_in_the_middle(coop::COPY) {
            return Ok(done);
        }
    }
}

#[inline]
fn unless_it_waits(done: Result<usize, Errno>) -> Result<io::Result<usize>, NotNow> {
    match done {
        Ok(count) => Ok(Ok(count)),
        Err(Errno::AGAIN) => Err(NotNow::Waits),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(NotNow::Untold),
        Err(Errno::INVAL | Errno::INTR) => Err(NotNow::Plain),
        Err(error) => Ok(Err(error.into())),
    }
}
