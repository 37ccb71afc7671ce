//! [`Metadata`]: what the file system knows of a file.

mod simulated;

use self::simulated::{of_path, of_path_async};
use super::perform::block_async;
use super::perform::{perform, perform_async};
use crate::driver::uring::op::stat;
use crate::kernel;
use crate::sched::coop;
use rustix::fs::CWD;
use std::ffi::{CStr, CString};
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What the file system knows of a file: [`std::fs::Metadata`], which cannot be made from what io_uring finds out.
///
/// # Examples
/// ```
/// let found = lamprey::run(|| lamprey::fs::metadata("Cargo.toml"))?;
/// assert!(found.is_file() && found.len() > 100);
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Copy)]
pub struct Metadata(libc::statx);

impl Metadata {
    /// Bytes in the file.
    #[expect(clippy::len_without_is_empty, reason = "as in the standard library")]
    pub fn len(&self) -> u64 {
        self.0.stx_size
    }

    fn is_of_type(&self, kind: libc::mode_t) -> bool {
        libc::mode_t::from(self.0.stx_mode) & libc::S_IFMT == kind
    }

    /// True for a regular file.
    pub fn is_file(&self) -> bool {
        self.is_of_type(libc::S_IFREG)
    }

    /// True for a directory.
    pub fn is_dir(&self) -> bool {
        self.is_of_type(libc::S_IFDIR)
    }

    /// True for a symbolic link, which only [`symlink_metadata`] finds.
    pub fn is_symlink(&self) -> bool {
        self.is_of_type(libc::S_IFLNK)
    }

    /// Type and permissions, as in `st_mode`.
    pub fn mode(&self) -> u32 {
        self.0.stx_mode.into()
    }

    /// Who may do what with it.
    pub fn permissions(&self) -> Permissions {
        Permissions::from_mode(self.mode())
    }

    /// When the content was last changed.
    ///
    /// # Errors
    /// None: it returns a `Result` as in the standard library.
    pub fn modified(&self) -> io::Result<SystemTime> {
        Ok(time(self.0.stx_mtime))
    }

    /// When it was last read, as far as the file system keeps that.
    ///
    /// # Errors
    /// None: it returns a `Result` as in the standard library.
    pub fn accessed(&self) -> io::Result<SystemTime> {
        Ok(time(self.0.stx_atime))
    }

    /// When it was made.
    ///
    /// # Errors
    /// `Unsupported`, if the file system does not keep that, or the system does not say it (a sandbox without `statx`).
    pub fn created(&self) -> io::Result<SystemTime> {
        if self.0.stx_mask & libc::STATX_BTIME == 0 {
            return Err(io::Error::new(
                ErrorKind::Unsupported,
                "this file system does not keep, or does not tell, when a file was made",
            ));
        }
        Ok(time(self.0.stx_btime))
    }

    /// The number of the file in its file system.
    pub fn ino(&self) -> u64 {
        self.0.stx_ino
    }

    /// The device of its file system.
    pub fn dev(&self) -> u64 {
        libc::makedev(self.0.stx_dev_major, self.0.stx_dev_minor)
    }

    /// How many names it has.
    pub fn nlink(&self) -> u64 {
        self.0.stx_nlink.into()
    }

    /// Its owner.
    pub fn uid(&self) -> u32 {
        self.0.stx_uid
    }

    /// Its group.
    pub fn gid(&self) -> u32 {
        self.0.stx_gid
    }

    /// The size of blocks in which it is best read and written.
    pub fn blksize(&self) -> u64 {
        self.0.stx_blksize.into()
    }

    /// The number of blocks of 512 bytes that it has on the disk.
    pub fn blocks(&self) -> u64 {
        self.0.stx_blocks
    }
}

/// Flags of `statx`: a link at the end of the path is followed.
const FOLLOW: i32 = 0;
/// A link at the end of the path is what is asked for.
const NO_FOLLOW: i32 = libc::AT_SYMLINK_NOFOLLOW;
/// The path is empty, and the descriptor is what is asked for.
const OF_FD: i32 = libc::AT_EMPTY_PATH;

fn time(at: libc::statx_timestamp) -> SystemTime {
    let seconds = Duration::from_secs(at.tv_sec.unsigned_abs());
    let whole =
        if at.tv_sec < 0 { SystemTime::UNIX_EPOCH - seconds } else { SystemTime::UNIX_EPOCH + seconds };
    whole + Duration::from_nanos(at.tv_nsec.into())
}

impl std::fmt::Debug for Metadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metadata")
            .field("mode", &format_args!("{:o}", self.mode()))
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// What the file system knows of the file at `path`; of the one that a symbolic link points to.
///
/// # Errors
/// The system's; `InvalidInput` for a path with a zero byte.
///
/// # Cancellation
/// A cancelled thread unwinds from here before the kernel, or a pool thread, has begun.
///
/// # Blocking
/// As [`File`](super::File)'s calls.
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    of_path(path.as_ref(), FOLLOW)
}

/// What the file system knows of the file at `path`; of a symbolic link itself.
///
/// # Errors
/// As for [`metadata`].
///
/// # Cancellation
/// As for `metadata`.
///
/// # Blocking
/// As for `metadata`.
pub fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    of_path(path.as_ref(), NO_FOLLOW)
}

/// The awaitable form of [`metadata`].
///
/// # Errors
/// As for `metadata`.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn metadata_async(path: impl AsRef<Path>) -> io::Result<Metadata> {
    of_path_async(path.as_ref(), FOLLOW).await
}

/// The awaitable form of [`symlink_metadata`].
///
/// # Errors
/// As for `metadata`.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn symlink_metadata_async(path: impl AsRef<Path>) -> io::Result<Metadata> {
    of_path_async(path.as_ref(), NO_FOLLOW).await
}

/// Whether there is something at `path`; of a symbolic link, whether there is what it points to.
///
/// # Examples
/// ```
/// assert!(lamprey::run(|| lamprey::fs::exists("Cargo.toml"))?);
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's, if it cannot say: for want of permission, say.
///
/// # Cancellation
/// As for [`metadata`].
///
/// # Blocking
/// As for `metadata`.
#[doc(alias = "try_exists")]
pub fn exists(path: impl AsRef<Path>) -> io::Result<bool> {
    is_there(metadata(path))
}

/// The awaitable form of [`exists`].
///
/// # Errors
/// As for `exists`.
///
/// # Cancellation
/// A dropped future has no effect.
#[doc(alias = "try_exists")]
pub async fn exists_async(path: impl AsRef<Path>) -> io::Result<bool> {
    is_there(metadata_async(path).await)
}

fn is_there(found: io::Result<Metadata>) -> io::Result<bool> {
    match found {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Of an open file.
pub(super) fn of_file(file: &File) -> io::Result<Metadata> {
    of(file.as_fd(), c"", OF_FD)
}

/// The awaitable form of [`of_file`].
pub(super) async fn of_file_async(file: &Arc<File>) -> io::Result<Metadata> {
    of_async(Some(file), CString::default(), OF_FD).await
}

/// Of the file at `path`, seen from `fd`.
fn of(fd: BorrowedFd<'_>, path: &CStr, flags: i32) -> io::Result<Metadata> {
    let by_ring = |here, (): &mut ()| Ok(stat::stat(here, fd, path, flags)?.map(Metadata));
    perform((), by_ring, |()| ask(fd, path, flags))
}

/// The awaitable form of [`of`]: seen from `file`, or from the current directory.
async fn of_async(file: Option<&Arc<File>>, path: CString, flags: i32) -> io::Result<Metadata> {
    let begin = |here, path| stat::begin(here, file.cloned(), path, flags);
    match perform_async(path, begin).await {
        Ok((stating, answer)) => stating.found(answer).map(Metadata),
        Err(path) => {
            let file = file.cloned();
            block_async(move || ask(file.as_ref().map_or(CWD, |file| file.as_fd()), &path, flags)).await
        }
    }
}

/// The system call.
fn ask(fd: BorrowedFd<'_>, path: &CStr, flags: i32) -> io::Result<Metadata> {
    kernel::stat::stat(fd, path, flags).map(Metadata)
}

/// # Errors
/// `InvalidInput` for a path with a zero byte.
pub(super) fn c_path(path: &Path) -> io::Result<CString> {
    let made = CString::new(path.as_os_str().as_bytes()).map_err(|_| {
        io::Error::new(
            ErrorKind::InvalidInput,
            format!("the path {path:?} has a zero byte, which no path may"),
        )
    });
    coop::looked(made, Result::is_err)
}
