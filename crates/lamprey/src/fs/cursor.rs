//! Reads and writes at the file's cursor: the traits of the standard library.

use super::File;
use super::chunks::{CURSOR, NotNow};
use super::perform::block;
use crate::driver::uring::here::here;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

impl File {
    /// Where the cursor is, for the one thread that uses it now: [`CURSOR`] for a pipe and the like, which have none.
    /// `None` if there is no ring, or a clone, or a call of a future that was dropped, may use the cursor as well.
    ///
    /// (The kernel can be told to use the cursor itself, but then does not move it for what it reads past the page
    /// cache.)
    fn cursor(&mut self) -> Option<u64> {
        here()?;
        let own = 1 + usize::from(self.ready.get().is_some_and(|ready| !ready.is_twin));
        if Arc::strong_count(&self.file) != own || self.has_clones() {
            return None;
        }
        match rustix::fs::tell(&self.file) {
            Ok(at) => Some(at),
            Err(Errno::SPIPE) => Some(CURSOR),
            Err(_) => None,
        }
    }

    /// Moves the cursor after a call at an offset that has transferred `count` bytes.
    fn moved_on(&mut self, count: usize) -> io::Result<usize> {
        // Fails for a pipe, which has no cursor.
        let _ = rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Current(count as i64));
        Ok(count)
    }

    /// Has the kernel use the cursor, on the pool.
    fn read_by_pool(&self, buf: &mut [u8]) -> io::Result<usize> {
        match self.key() {
            Some(key) => self.read_simulated(key, buf, None),
            None => block(|| (&*self.file).read(buf)),
        }
    }

    fn write_by_pool(&self, buf: &[u8]) -> io::Result<usize> {
        match self.key() {
            Some(key) => self.write_simulated(key, buf, None),
            None => block(|| (&*self.file).write(buf)),
        }
    }

    /// As [`cursor`](Self::cursor), for a write. `None` for a file that appends: the kernel alone knows where that write has
    /// gone, behind which the cursor then stands (others may append at the same time).
    fn cursor_to_write(&mut self) -> Option<u64> {
        here()?;
        if rustix::fs::fcntl_getfl(&self.file).is_ok_and(|flags| flags.contains(OFlags::APPEND)) {
            return None;
        }
        self.cursor()
    }
}

impl Read for &File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.read_chunks(buf, None).or_else(|why| self.read_later(why, buf, None)) {
            Ok(done) => done,
            Err(_) => self.read_by_pool(buf),
        }
    }
}

impl Write for &File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.write_chunks(buf, None).or_else(|why| self.write_later(why, buf, None)) {
            Ok(done) => done,
            Err(_) => self.write_by_pool(buf),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        block(|| (&*self.file).seek(to))
    }
}

impl Read for File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.read_chunks(buf, None).or_else(|why| self.read_later(why, buf, None)) {
            Ok(done) => done,
            Err(NotNow::Untold) => self.read_by_pool(buf),
            Err(_) => match self.cursor() {
                Some(at) => self.moved_on(self.read_waiting(buf, at)?),
                None => self.read_by_pool(buf),
            },
        }
    }
}

impl Write for File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.write_chunks(buf, None).or_else(|why| self.write_later(why, buf, None)) {
            Ok(done) => done,
            Err(NotNow::Untold) => self.write_by_pool(buf),
            Err(_) => match self.cursor_to_write() {
                Some(at) => self.moved_on(self.write_waiting(buf, at)?),
                None => self.write_by_pool(buf),
            },
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }
}
