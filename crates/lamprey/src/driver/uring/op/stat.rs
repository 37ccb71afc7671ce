//! `STATX`: what the file system knows of a file.

use super::{Answer, Here, Kept, Performed, call, future};
use crate::sched::Wait;
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

/// Of which file.
pub(crate) enum Of {
    File(Arc<File>),
    /// A path, and whether a link at its end is followed.
    Path(CString, bool),
}

/// The descriptor itself.
const OF_FD: i32 = libc::AT_EMPTY_PATH;

fn of_path_flags(follow: bool) -> i32 {
    if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW }
}

fn entry(fd: RawFd, path: *const c_char, flags: i32, place: *mut libc::statx) -> squeue::Entry {
    opcode::Statx::new(Fd(fd), path, place.cast())
        .flags(libc::AT_STATX_SYNC_AS_STAT | flags)
        .mask(libc::STATX_BASIC_STATS | libc::STATX_BTIME)
        .build()
}

/// Of an open file; `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn of_file(here: Here, file: BorrowedFd<'_>) -> io::Result<Option<libc::statx>> {
    stat(here, file.as_raw_fd(), c"", OF_FD)
}

/// Of a path; `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn of_path(here: Here, path: &CStr, follow: bool) -> io::Result<Option<libc::statx>> {
    stat(here, libc::AT_FDCWD, path, of_path_flags(follow))
}

fn stat(here: Here, fd: RawFd, path: &CStr, flags: i32) -> io::Result<Option<libc::statx>> {
    let mut place = MaybeUninit::zeroed();
    let entry = entry(fd, path.as_ptr(), flags, place.as_mut_ptr());
    // SAFETY: what is named is borrowed, or on this stack, until this returns.
    let Some(answer) = (unsafe { call::perform(here, entry, Wait::File, None)? }) else { return Ok(None) };
    answer.value()?;
    // SAFETY: zeros are a valid value, and the kernel has written one over them.
    Ok(Some(unsafe { place.assume_init() }))
}

/// What is asked, and the place for the answer: a vector, because a pointer to what it has stays valid when it is moved.
pub(crate) struct Stating {
    asked: Asked,
    place: Vec<libc::statx>,
}

/// [`Of`], with the path as a vector.
enum Asked {
    File(Arc<File>),
    Path(Vec<u8>, bool),
}

impl Kept for Stating {}

impl Stating {
    /// # Errors
    /// The kernel's.
    pub(crate) fn found(self, answer: Answer) -> io::Result<libc::statx> {
        answer.value().map(|_| self.place[0])
    }

    pub(crate) fn into_of(self) -> Of {
        match self.asked {
            Asked::File(file) => Of::File(file),
            Asked::Path(path, follow) => {
                let path = CString::from_vec_with_nul(path);
                Of::Path(path.unwrap_or_else(|_| crate::bug::bug!("a path has changed")), follow)
            }
        }
    }
}

pub(crate) fn begin(here: Here, of: Of) -> Performed<Stating> {
    // SAFETY: zeros are a valid value.
    let mut place = vec![unsafe { MaybeUninit::zeroed().assume_init() }];
    let asked = match of {
        Of::File(file) => Asked::File(file),
        Of::Path(path, follow) => Asked::Path(path.into_bytes_with_nul(), follow),
    };
    let entry = match &asked {
        Asked::File(file) => entry(file.as_raw_fd(), c"".as_ptr(), OF_FD, place.as_mut_ptr()),
        Asked::Path(path, follow) => {
            entry(libc::AT_FDCWD, path.as_ptr().cast(), of_path_flags(*follow), place.as_mut_ptr())
        }
    };
    // SAFETY: file, path and place are on the heap or open, and stay as long as they are kept.
    unsafe { future::begin(here, Stating { asked, place }, entry) }
}
