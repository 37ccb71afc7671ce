//! `OPENAT`: opens a file.

use super::{Answer, Here, Kept, Performed, Place, call, future};
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use std::ffi::{CStr, CString, c_char};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

fn entry(path: *const c_char, flags: i32, mode: u32) -> squeue::Entry {
    // By a thread of the kernel's: a first try in place would not wait for the other end of a FIFO.
    opcode::OpenAt::new(Fd(libc::AT_FDCWD), path).flags(flags).mode(mode).build().flags(squeue::Flags::ASYNC)
}

/// The descriptor that an answer brings.
///
/// # Errors
/// The kernel's.
pub(crate) fn opened(answer: Answer) -> io::Result<OwnedFd> {
    let fd = answer.value()?;
    // SAFETY: the kernel has just opened it for this answer, which is looked at once.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// `None` if the operation was not performed, or was given up after `patience`.
///
/// # Errors
/// The kernel's.
pub(crate) fn open(
    here: Here,
    path: &CStr,
    flags: i32,
    mode: u32,
    patience: Option<Duration>,
) -> io::Result<Option<OwnedFd>> {
    let Some(_place) = Place::take(here) else { return Ok(None) };
    let deadline = patience.map(|patience| Instant::now() + patience);
    let (entry, wait) = (entry(path.as_ptr(), flags, mode), KernelWait::new(Wait::File, -1));
    // SAFETY: the path is borrowed until this returns.
    let answer = match unsafe { call::perform(here, entry, wait, deadline) } {
        Err(error) if error.kind() == io::ErrorKind::TimedOut && patience.is_some() => return Ok(None),
        answer => answer?,
    };
    // An interrupted one is made again, as in the standard library.
    answer.filter(|answer| !answer.is_given_up()).map(opened).transpose()
}

/// The path of a file that is being opened, with a zero at its end: a vector, because a pointer to what it has stays
/// valid when it is moved.
pub(crate) struct Opening(Vec<u8>, #[expect(dead_code, reason = "taken until the answer")] Place);

impl Kept for Opening {
    type Given = CString;

    fn give_back(self) -> CString {
        CString::from_vec_with_nul(self.0).unwrap_or_else(|_| crate::bug::bug!("a path has changed"))
    }

    fn abandoned(self, answer: Answer) {
        drop(opened(answer));
    }
}

/// `Err` if there is no place for it.
pub(crate) fn begin(here: Here, path: CString, flags: i32, mode: u32) -> Result<Performed<Opening>, CString> {
    let Some(place) = Place::take(here) else { return Err(path) };
    let path = path.into_bytes_with_nul();
    let entry = entry(path.as_ptr().cast(), flags, mode);
    // SAFETY: the path is on the heap, and stays as long as it is kept.
    Ok(unsafe { future::begin(here, None, Opening(path, place), entry) })
}
