//! What a read or a write transfers without waiting, and how much of it before others may run.

use super::File;
use crate::sched::coop;
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};
use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;

/// The most bytes that one system call at an offset reads or writes without waiting.
pub(super) const CHUNK: usize = 256 << 10;

/// The most bytes that one system call at the cursor reads or writes without waiting.
const LARGEST: usize = 1 << 20;

/// In place of an offset: the file's cursor, which advances.
pub(super) const CURSOR: u64 = u64::MAX;

impl File {
    /// Reads as much as is possible without waiting, from an offset or from the cursor; `None` if it has to wait.
    #[inline]
    pub(super) fn read_chunks(&self, buf: &mut [u8], from: Option<u64>) -> Option<io::Result<usize>> {
        self.without_waiting(|| in_chunks(buf.len(), from, |range, at| self.try_read(&mut buf[range], at)))
    }

    /// Writes as much as is possible without waiting, at an offset or at the cursor; `None` if it has to wait.
    #[inline]
    pub(super) fn write_chunks(&self, buf: &[u8], from: Option<u64>) -> Option<io::Result<usize>> {
        self.without_waiting(|| in_chunks(buf.len(), from, |range, at| self.try_write(&buf[range], at)))
    }

    /// One system call of a future.
    pub(super) fn read_chunk(&self, buf: &mut [u8], at: u64) -> Option<io::Result<usize>> {
        self.without_waiting(|| self.try_read(buf, at))
    }

    /// One system call of a future.
    pub(super) fn write_chunk(&self, buf: &[u8], at: u64) -> Option<io::Result<usize>> {
        self.without_waiting(|| self.try_write(buf, at))
    }

    fn try_read(&self, buf: &mut [u8], at: u64) -> Result<usize, Errno> {
        preadv2(&*self.file, &mut [IoSliceMut::new(buf)], at, ReadWriteFlags::NOWAIT)
    }

    fn try_write(&self, buf: &[u8], at: u64) -> Result<usize, Errno> {
        pwritev2(&*self.file, &[IoSlice::new(buf)], at, ReadWriteFlags::NOWAIT)
    }

    #[inline]
    fn without_waiting(&self, call: impl FnOnce() -> Result<usize, Errno>) -> Option<io::Result<usize>> {
        if self.is_direct {
            return None;
        }
        match call() {
            Err(error) if would_wait(error) => None,
            done => Some(done.map_err(io::Error::from)),
        }
    }
}

/// Calls `operation` for each [`CHUNK`] of `length` bytes until one is not transferred in full, and lets
/// other threads run in between. At the cursor (no `from`) it makes one call.
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

/// True if the plain call has to be made where it may wait: with `EAGAIN` the call would wait, with the others that
/// is unknown.
fn would_wait(error: Errno) -> bool {
    matches!(error, Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::INTR)
}
