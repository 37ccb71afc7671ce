//! Files without blocking the worker: [`File`], with the interface of [`std::fs::File`].
//!
//! A disk has no readiness: a read either finds its pages in memory or waits. So each read and write is first
//! tried with `RWF_NOWAIT`, which costs as much as the plain call; only when the kernel would have to wait,
//! or its file system cannot tell, is it left to the kernel's io_uring, or, where the runtime has none
//! ([`Io`](crate::Io)), to the blocking pool. Files opened with `O_DIRECT` always wait.
//!
//! For all other file operations run the standard library's call on the pool: `lamprey::block(||
//! std::fs::read_dir(path))`, or, in async code, `lamprey::block_async(|| std::fs::read_dir(path)).await`.

mod batch;
mod future;
mod hints;
mod metadata;
mod open;
mod whole;

pub use self::hints::Advice;
pub use self::metadata::{Metadata, metadata, metadata_async, symlink_metadata, symlink_metadata_async};
pub use self::open::OpenOptions;

pub use crate::memory::aligned::AlignedBuf;

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

use crate::driver::block;
use crate::driver::uring::op::{close, read, sync, write};
use crate::driver::uring::ring::here;
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
/// Not interruptible while a call is on the blocking pool, or the kernel is in the middle of it. A cancelled host
/// unwinds only before anything is read or written.
///
/// # Blocking
/// A read or write at the cursor transfers at most 1 MiB, in one system call; other threads may run before
/// the next. The [module](self) says which calls wait, and for whom. Plain OS threads make the calls
/// themselves.
///
/// With io_uring, calls at the cursor through a shared reference (`&File`) are still left to the pool: io_uring
/// does not take the kernel's lock of the cursor, so two of them could read the same bytes. Those through a
/// `&mut File` are not; so use the cursor of a duplicated descriptor from one thread at a time.
///
/// # In async code
/// Each call has an awaitable form. If its future is dropped while it waits, the call may still be made, and its
/// result is lost: so a `read_async` that is dropped may have moved the file's cursor, and a `write_async` may
/// have written. Converting the file into another type waits for such a call.
pub struct File {
    file: Arc<std::fs::File>,
    /// It was opened with `O_DIRECT`: each call waits for the disk.
    is_direct: bool,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file for writing, and truncates it.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path)
    }

    /// Opens a file with the options of the standard library, on the blocking pool. [`OpenOptions`] are those of this
    /// crate.
    ///
    /// # Errors
    /// The system's.
    pub fn open_with(options: &std::fs::OpenOptions, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        block(|| options.open(path)).map(Self::from)
    }

    /// The file's metadata.
    ///
    /// # Errors
    /// The system's.
    pub fn metadata(&self) -> io::Result<Metadata> {
        metadata::of_file(&self.file)
    }

    /// Truncates the file to `size` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// The system's.
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        block(|| self.file.set_len(size))
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_all(&self) -> io::Result<()> {
        self.sync(false)
    }

    /// Waits until all that was written is on the disk, but not what else the file system keeps of the file (such as
    /// times), unless it is needed to find the bytes.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_data(&self) -> io::Result<()> {
        self.sync(true)
    }

    fn sync(&self, only_data: bool) -> io::Result<()> {
        let synced = match here() {
            Some(here) => sync::sync(here, self.as_fd_of_file(), only_data)?,
            None => None,
        };
        let on_pool = || block(|| if only_data { self.file.sync_data() } else { self.file.sync_all() });
        synced.map_or_else(on_pool, |answer| answer.value().map(drop))
    }

    /// Closes the file and says whether its file system had something to report, which a drop does not. (What the
    /// kernel has not written to the disk yet is no part of that: see [`sync_all`](Self::sync_all).) A future of this
    /// file that was dropped is waited for.
    ///
    /// # Errors
    /// The file system's: what was written may be lost. The file is closed all the same.
    pub fn close(self) -> io::Result<()> {
        let fd = OwnedFd::from(self);
        let closed = match here() {
            Some(here) => close::close(here, fd),
            None => Err(fd),
        };
        closed.unwrap_or_else(|fd| block(|| ask_to_close(fd)))
    }

    fn as_fd_of_file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Reads at `offset`, without using the cursor; 0 at the end of the file.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an offset beyond `i64::MAX`.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        match self.read_chunks(buf, Some(offset)) {
            Err(error) if would_wait(error) => self.read_waiting(buf, offset),
            done => Ok(done?),
        }
    }

    /// Writes at `offset`, without using the cursor.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an offset beyond `i64::MAX`.
    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        match self.write_chunks(buf, Some(offset)) {
            Err(error) if would_wait(error) => self.write_waiting(buf, offset),
            done => Ok(done?),
        }
    }

    /// Reads as much as is possible without waiting.
    fn read_chunks(&self, buf: &mut [u8], from: Option<u64>) -> Result<usize, Errno> {
        if self.is_direct {
            return Err(Errno::AGAIN);
        }
        in_chunks(buf.len(), from, |range, at| {
            preadv2(&*self.file, &mut [IoSliceMut::new(&mut buf[range])], at, ReadWriteFlags::NOWAIT)
        })
    }

    /// Writes as much as is possible without waiting.
    fn write_chunks(&self, buf: &[u8], from: Option<u64>) -> Result<usize, Errno> {
        if self.is_direct {
            return Err(Errno::AGAIN);
        }
        in_chunks(buf.len(), from, |range, at| {
            pwritev2(&*self.file, &[IoSlice::new(&buf[range])], at, ReadWriteFlags::NOWAIT)
        })
    }

    /// Reads at an offset, or at the [`CURSOR`], and waits.
    fn read_waiting(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        if let Some(here) = here()
            && let Some(answer) = read::read(here, self.as_fd_of_file(), buf, at)?
        {
            return answer.value();
        }
        block(|| if at == CURSOR { (&*self.file).read(buf) } else { self.file.read_at(buf, at) })
    }

    /// Writes at an offset, or at the [`CURSOR`], and waits.
    fn write_waiting(&self, buf: &[u8], at: u64) -> io::Result<usize> {
        if let Some(here) = here()
            && let Some(answer) = write::write(here, self.as_fd_of_file(), buf, at)?
        {
            return answer.value();
        }
        block(|| if at == CURSOR { (&*self.file).write(buf) } else { self.file.write_at(buf, at) })
    }

    /// Where the cursor is, for the one thread that uses it now: [`CURSOR`] for a pipe and the like, which have none.
    /// `None` if there is no ring, or a call of a future that was dropped may still use the cursor.
    ///
    /// (The kernel can be told to use the cursor itself, but then does not move it for what it reads past the page
    /// cache.)
    fn cursor(&mut self) -> Option<u64> {
        here()?;
        if Arc::strong_count(&self.file) != 1 {
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

    /// As [`moved_on`](Self::moved_on), after a write, which may have gone to the end, wherever the cursor was.
    fn moved_on_or_to_end(&mut self, count: usize) -> io::Result<usize> {
        if !rustix::fs::fcntl_getfl(&self.file).is_ok_and(|flags| flags.contains(OFlags::APPEND)) {
            return self.moved_on(count);
        }
        let _ = rustix::fs::seek(&self.file, rustix::fs::SeekFrom::End(0));
        Ok(count)
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

/// The system call. An interrupted one has closed the descriptor, too.
fn ask_to_close(fd: OwnedFd) -> io::Result<()> {
    let fd = fd.into_raw_fd();
    // SAFETY: the descriptor is this call's own.
    if unsafe { libc::close(fd) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

/// True if the plain call has to be made where it may wait: with `EAGAIN` the call would wait, with the others that
/// is unknown.
fn would_wait(error: Errno) -> bool {
    matches!(error, Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::INTR)
}

impl Read for &File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.read_chunks(buf, None) {
            Err(error) if would_wait(error) => block(|| (&*self.file).read(buf)),
            done => Ok(done?),
        }
    }
}

impl Write for &File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.write_chunks(buf, None) {
            Err(error) if would_wait(error) => block(|| (&*self.file).write(buf)),
            done => Ok(done?),
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
            Err(error) if would_wait(error) => match self.cursor() {
                Some(at) => self.moved_on(self.read_waiting(buf, at)?),
                None => block(|| (&*self.file).read(buf)),
            },
            done => Ok(done?),
        }
    }
}

impl Write for File {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.write_chunks(buf, None) {
            Err(error) if would_wait(error) => match self.cursor() {
                Some(at) => self.moved_on_or_to_end(self.write_waiting(buf, at)?),
                None => block(|| (&*self.file).write(buf)),
            },
            done => Ok(done?),
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

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> Self {
        let is_direct = rustix::fs::fcntl_getfl(&file).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
        Self { file: Arc::new(file), is_direct }
    }
}

impl From<File> for std::fs::File {
    fn from(File { mut file, .. }: File) -> Self {
        loop {
            match Arc::try_unwrap(file) {
                Ok(file) => return file,
                // A future was dropped, or forgotten, before its call has ended: rare and short.
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
