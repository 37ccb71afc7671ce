//! `STATX`: what the file system knows of a file.

use super::{Answer, Here, Kept, Performed, Place, call, future};
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use rustix::fs::CWD;
use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;

fn entry(fd: BorrowedFd<'_>, path: *const c_char, flags: i32, place: *mut libc::statx) -> squeue::Entry {
    opcode::Statx::new(Fd(fd.as_raw_fd()), path, place.cast())
        .flags(libc::AT_STATX_SYNC_AS_STAT | flags)
        .mask(libc::STATX_BASIC_STATS | libc::STATX_BTIME)
        .build()
}

/// Of the file at `path`, seen from `fd`; `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn stat(
    here: Here,
    fd: BorrowedFd<'_>,
    path: &CStr,
    flags: i32,
) -> io::Result<Option<libc::statx>> {
    let Some(_place) = Place::take(here) else { return Ok(None) };
    let mut place = MaybeUninit::zeroed();
    let entry = entry(fd, path.as_ptr(), flags, place.as_mut_ptr());
    // SAFETY: what is named is borrowed, or on this stack, until this returns.
    let Some(answer) = (unsafe { call::perform(here, entry, KernelWait::on(Wait::File, fd), None)? }) else {
        return Ok(None);
    };
    answer.value()?;
    // SAFETY: zeros are a valid value, and the kernel has written one over them.
    Ok(Some(unsafe { place.assume_init() }))
}

/// The path, and the place for the answer: vectors, because a pointer to what one has stays valid when it is moved.
pub(crate) struct Stating {
    path: Vec<u8>,
    place: Vec<libc::statx>,
    #[expect(dead_code, reason = "taken until the answer")]
    thread: Place,
}

impl Kept for Stating {
    type Given = CString;

    fn give_back(self) -> CString {
        CString::from_vec_with_nul(self.path).unwrap_or_else(|_| crate::bug::bug!("a path has changed"))
    }
}

impl Stating {
    /// # Errors
    /// The kernel's.
    pub(crate) fn found(self, answer: Answer) -> io::Result<libc::statx> {
        answer.value().map(|_| self.place[0])
    }
}

/// As [`stat`]: seen from `file`, or from the current directory. `Err` if there is no place for it.
pub(crate) fn begin(
    here: Here,
    file: Option<Arc<File>>,
    path: CString,
    flags: i32,
) -> Result<Performed<Stating>, CString> {
    let Some(thread) = Place::take(here) else { return Err(path) };
    let path = path.into_bytes_with_nul();
    // SAFETY: zeros are a valid value.
    let mut place = vec![unsafe { MaybeUninit::zeroed().assume_init() }];
    let fd = file.as_ref().map_or(CWD, |file| file.as_fd());
    let entry = entry(fd, path.as_ptr().cast(), flags, place.as_mut_ptr());
    // SAFETY: path and place are on the heap, the file is open, and all stay as long as they are kept.
    Ok(unsafe { future::begin(here, file, Stating { path, place, thread }, entry) })
}
