//! Reads and writes at the file's cursor: the traits of the standard library.

use super::File;
use super::chunks::CURSOR;
use crate::driver::block;
use crate::driver::uring::ring::here;
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
        if Arc::strong_count(&self.file) != 1 || self.has_clones() {
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

    /// As [`moved_on`](Self::moved_on), after a write, which may have gone to the end, wherever the cursor was.
    fn moved_on_or_to_end(&mut self, count: usize) -> io::Result<usize> {
        if !rustix::fs::fcntl_getfl(&self.file).is_ok_and(|flags| flags.contains(OFlags::APPEND)) {
            return self.moved_on(count);
        }
        let _ = rustix::fs::seek(&self.file, rustix::fs::SeekFrom::End(0));
        Ok(count)
    }
}

impl Read for &File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.read_chunks(buf, None) {
            Some(done) => done,
            None => self.read_by_pool(buf),
        }
    }
}

impl Write for &File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.write_chunks(buf, None) {
            Some(done) => done,
            None => self.write_by_pool(buf),
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
        match self.read_chunks(buf, None) {
            Some(done) => done,
            None => match self.cursor() {
                Some(at) => self.moved_on(self.read_waiting(buf, at)?),
                None => self.read_by_pool(buf),
            },
        }
    }
}

impl Write for File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.write_chunks(buf, None) {
            Some(done) => done,
            None => match self.cursor() {
                Some(at) => self.moved_on_or_to_end(self.write_waiting(buf, at)?),
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
