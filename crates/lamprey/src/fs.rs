//! Files without blocking the worker: [`File`], with the interface of [`std::fs::File`].
//!
//! A disk has no readiness: a read either finds its pages in memory or waits. So each read and write is first
//! tried with `RWF_NOWAIT`, which costs as much as the plain call; only when the kernel would have to wait,
//! or its file system cannot tell, does the call go to the blocking pool.
//!
//! For all other file operations run the standard library's call on the pool: `lamprey::block(||
//! std::fs::read_dir(path))`, or, in async code, `lamprey::block_async(|| std::fs::read_dir(path)).await`.

mod aligned;
mod future;

pub use self::aligned::AlignedBuf;

use std::fmt;
use std::fs::{Metadata, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

use crate::driver::block;
use crate::io::offset::check_offset;
use crate::sched::coop;

/// The most bytes that one system call at an offset reads or writes without waiting.
const CHUNK: usize = 256 << 10;

/// The most bytes that one system call at the cursor reads or writes without waiting.
const LARGEST: usize = 1 << 20;

/// In place of an offset: the file's cursor, which advances.
const CURSOR: u64 = u64::MAX;

/// An open file: [`std::fs::File`] that blocks only the calling host.
///
/// # Examples
/// ```
/// use std::io::Read;
/// let text = lamprey::run(|| -> std::io::Result<String> {
///     let mut text = String::new();
///     lamprey::fs::File::open("Cargo.toml")?.read_to_string(&mut text)?;
///     Ok(text)
/// })?;
/// assert!(text.contains("lamprey"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Cancellation
/// Not interruptible while a call is on the blocking pool. A cancelled host unwinds only before anything is
/// read or written.
///
/// # Blocking
/// A read or write at the cursor transfers at most 1 MiB, in one system call; other threads may run before
/// the next. The [module](self) says which calls go to the blocking pool. Plain OS threads make the calls
/// themselves.
///
/// # In async code
/// Each call has an awaitable form. A call on the blocking pool cannot be cancelled: if its future is dropped
/// before a pool thread has taken it, it is not made, otherwise it runs to its end and its result is lost. So
/// a `read_async` that is dropped may have moved the file's cursor, and a `write_async` may have written.
/// Converting the file into another type waits for such a call.
pub struct File(Arc<std::fs::File>);

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::open_with(OpenOptions::new().read(true), path)
    }

    /// Opens a file for writing, and truncates it.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::open_with(OpenOptions::new().write(true).create(true).truncate(true), path)
    }

    /// Opens a file with `options`.
    ///
    /// # Errors
    /// The system's.
    pub fn open_with(options: &OpenOptions, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        block(|| options.open(path)).map(Self::from)
    }

    /// The file's metadata.
    ///
    /// # Errors
    /// The system's.
    pub fn metadata(&self) -> io::Result<Metadata> {
        block(|| self.0.metadata())
    }

    /// Truncates the file to `size` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// The system's.
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        block(|| self.0.set_len(size))
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_all(&self) -> io::Result<()> {
        block(|| self.0.sync_all())
    }

    /// Reads at `offset`, without using the cursor; 0 at the end of the file.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an offset beyond `i64::MAX`.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        match read_chunks(&self.0, buf, Some(offset)) {
            Err(error) if would_wait(error) => block(|| self.0.read_at(buf, offset)),
            done => Ok(done?),
        }
    }

    /// Writes at `offset`, without using the cursor.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an offset beyond `i64::MAX`.
    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        match write_chunks(&self.0, buf, Some(offset)) {
            Err(error) if would_wait(error) => block(|| self.0.write_at(buf, offset)),
            done => Ok(done?),
        }
    }
}

/// Reads as much as is possible without waiting.
fn read_chunks(file: &std::fs::File, buf: &mut [u8], from: Option<u64>) -> Result<usize, Errno> {
    in_chunks(buf.len(), from, |range, at| {
        preadv2(file, &mut [IoSliceMut::new(&mut buf[range])], at, ReadWriteFlags::NOWAIT)
    })
}

/// Writes as much as is possible without waiting.
fn write_chunks(file: &std::fs::File, buf: &[u8], from: Option<u64>) -> Result<usize, Errno> {
    in_chunks(buf.len(), from, |range, at| {
        pwritev2(file, &[IoSlice::new(&buf[range])], at, ReadWriteFlags::NOWAIT)
    })
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

/// True if the plain call has to be made on the pool: with `EAGAIN` the call would wait, with the others that
/// is unknown.
fn would_wait(error: Errno) -> bool {
    matches!(error, Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::INTR)
}

impl Read for &File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match read_chunks(&self.0, buf, None) {
            Err(error) if would_wait(error) => block(|| (&*self.0).read(buf)),
            done => Ok(done?),
        }
    }
}

impl Write for &File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match write_chunks(&self.0, buf, None) {
            Err(error) if would_wait(error) => block(|| (&*self.0).write(buf)),
            done => Ok(done?),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        block(|| (&*self.0).seek(to))
    }
}

impl Read for File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buf)
    }
}

impl Write for File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        (&*self).write(buf)
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

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> Self {
        Self(Arc::new(file))
    }
}

impl From<File> for std::fs::File {
    fn from(File(mut file): File) -> Self {
        loop {
            match Arc::try_unwrap(file) {
                Ok(file) => return file,
                // A future was dropped while its call ran on the pool: rare and short.
                Err(shared) => file = shared,
            }
            crate::sleep(Duration::from_millis(1));
        }
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> Self {
        std::fs::File::from(file).into()
    }
}
