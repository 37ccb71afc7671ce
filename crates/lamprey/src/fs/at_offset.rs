//! Reads and writes at an offset.

use super::File;
use super::chunks::{CURSOR, NotNow};
use super::direct::Transfer;
use super::perform::{block, perform};
use crate::driver::uring::op::{read, write};
use crate::io::offset::check_offset;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

impl File {
    /// Reads at `offset`, without using the cursor; 0 at the end of the file.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an offset beyond `i64::MAX` (`EINVAL`), and for what `O_DIRECT` does not allow, with the
    /// offending value.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        match self.read_chunks(buf, Some(offset)).or_else(|why| self.read_later(why, buf, Some(offset))) {
            Ok(done) => done,
            Err(NotNow::Untold) => block(|| self.file.read_at(buf, offset)),
            Err(_) => self.read_waiting(buf, offset),
        }
    }

    /// Writes at `offset`, without using the cursor.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an offset beyond `i64::MAX`.
    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        match self.write_chunks(buf, Some(offset)).or_else(|why| self.write_later(why, buf, Some(offset))) {
            Ok(done) => done,
            Err(NotNow::Untold) => block(|| self.file.write_at(buf, offset)),
            Err(_) => self.write_waiting(buf, offset),
        }
    }

    /// Reads at an offset, or at the [`CURSOR`], and waits.
    pub(super) fn read_waiting(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        if let Some(key) = self.key() {
            return self.read_simulated(key, buf, (at != CURSOR).then_some(at));
        }
        let what = Transfer::of(buf, at);
        let by_ring = |here, buf: &mut &mut [u8]| read::read(here, self.as_fd_of_file(), buf, at);
        let done = perform(buf, by_ring, |buf| match at {
            CURSOR => (&*self.file).read(buf),
            offset => self.file.read_at(buf, offset),
        });
        self.explained(done, what)
    }

    /// Writes at an offset, or at the [`CURSOR`], and waits.
    pub(super) fn write_waiting(&self, buf: &[u8], at: u64) -> io::Result<usize> {
        if let Some(key) = self.key() {
            return self.write_simulated(key, buf, (at != CURSOR).then_some(at));
        }
        let by_ring = |here, buf: &mut &[u8]| write::write(here, self.as_fd_of_file(), buf, at);
        let done = perform(buf, by_ring, |buf| match at {
            CURSOR => (&*self.file).write(buf),
            offset => self.file.write_at(buf, offset),
        });
        self.explained(done, Transfer::of(buf, at))
    }
}
