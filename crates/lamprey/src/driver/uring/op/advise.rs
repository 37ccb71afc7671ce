//! `FADVISE`: what the program will do with a part of a file.

use super::{Here, Performed, call, future};
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

/// `len` is 0 for all that follows. The entry's length has 32 bits; a longer part is all that follows.
fn entry(file: RawFd, offset: u64, len: u64, advice: i32) -> squeue::Entry {
    let len = i64::from(u32::try_from(len).unwrap_or(0));
    opcode::Fadvise::new(Fd(file), len, advice).offset(offset).build()
}

/// `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn advise(
    here: Here,
    file: BorrowedFd<'_>,
    (offset, len): (u64, u64),
    advice: i32,
) -> io::Result<Option<usize>> {
    // SAFETY: the file is borrowed until this returns.
    unsafe {
        call::count(
            here,
            entry(file.as_raw_fd(), offset, len, advice),
            KernelWait::on(Wait::File, file),
            None,
        )
    }
}

pub(crate) fn begin(here: Here, file: Arc<File>, (offset, len): (u64, u64), advice: i32) -> Performed<()> {
    let entry = entry(file.as_raw_fd(), offset, len, advice);
    // SAFETY: the file stays open as long as it is kept.
    unsafe { future::begin(here, Some(file), (), entry) }
}
