//! [`Advice`]: what a program will do with a part of a file, so that the kernel reads ahead, or does not.

use super::File;
use super::perform::perform;
use crate::driver::uring::op::advise;
use crate::io::offset::check_offset;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// What a program will do with a part of a file (`posix_fadvise`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Nothing special: the default.
    Normal,
    /// Read from its beginning to its end: the kernel reads further ahead.
    Sequential,
    /// Read here and there: the kernel does not read ahead.
    Random,
    /// Read soon: the kernel begins to read it now.
    WillNeed,
    /// Not read any more: the kernel may use the memory of its pages for others.
    DontNeed,
}

impl Advice {
    fn number(self) -> i32 {
        match self {
            Self::Normal => libc::POSIX_FADV_NORMAL,
            Self::Sequential => libc::POSIX_FADV_SEQUENTIAL,
            Self::Random => libc::POSIX_FADV_RANDOM,
            Self::WillNeed => libc::POSIX_FADV_WILLNEED,
            Self::DontNeed => libc::POSIX_FADV_DONTNEED,
        }
    }
}

impl File {
    /// Says what the program will do with the bytes in `range`. The results of all calls are the same without it.
    ///
    /// # Examples
    /// ```
    /// use lamprey::fs::{Advice, File};
    /// lamprey::run(|| -> std::io::Result<()> {
    ///     let file = File::open("Cargo.toml")?;
    ///     file.advise(0..4096, Advice::WillNeed)
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's; `InvalidInput` for an end beyond `i64::MAX`.
    ///
    /// # Cancellation
    /// As the other calls of [`File`].
    pub fn advise(&self, range: Range<u64>, advice: Advice) -> io::Result<()> {
        let Some(part) = part(&range)? else { return Ok(()) };
        let by_ring = |here, (): &mut ()| advise::advise(here, self.as_fd_of_file(), part, advice.number());
        perform((), by_ring, |()| ask(&self.file, part, advice)).map(drop)
    }

    /// The awaitable form of [`advise`](Self::advise).
    ///
    /// # Errors
    /// As for `advise`.
    ///
    /// # Cancellation
    /// The kernel may read all the same.
    pub async fn advise_async(&self, range: Range<u64>, advice: Advice) -> io::Result<()> {
        let Some(part) = part(&range)? else { return Ok(()) };
        let begin = move |here, file, ()| advise::begin(here, file, part, advice.number());
        let on_pool = move |file: &std::fs::File, (): &mut ()| ask(file, part, advice);
        self.perform_async((), begin, on_pool).await.0.map(drop)
    }
}

/// Offset and length; `None` if it is empty, as a length of 0 means all that follows.
fn part(range: &Range<u64>) -> io::Result<Option<(u64, u64)>> {
    check_offset(range.end)?;
    Ok((!range.is_empty()).then(|| (range.start, range.end - range.start)))
}

/// The system call.
fn ask(file: &std::fs::File, (offset, len): (u64, u64), advice: Advice) -> io::Result<usize> {
    // SAFETY: the call names no memory.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), offset as i64, len as i64, advice.number()) } {
        0 => Ok(0),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
