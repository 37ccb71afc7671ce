//! `READ`: bytes of a file, from an offset or from the cursor.

use super::{Answer, Here, Performed, call, future, length};
use crate::memory::aligned::AlignedBuf;
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

/// `at` is an offset, or `u64::MAX` for the cursor.
fn entry(file: RawFd, buffer: *mut u8, len: usize, at: u64) -> squeue::Entry {
    opcode::Read::new(Fd(file), buffer, length(len)).offset(at).build()
}

/// The number of bytes; `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn read(here: Here, file: BorrowedFd<'_>, buf: &mut [u8], at: u64) -> io::Result<Option<usize>> {
    let entry = entry(file.as_raw_fd(), buf.as_mut_ptr(), buf.len(), at);
    // SAFETY: file and buffer are borrowed until this returns.
    unsafe { call::count(here, entry, KernelWait::on(Wait::File, file), None) }
}

/// Several at once, from offsets; an answer for each.
pub(crate) fn read_all(
    here: Here,
    file: BorrowedFd<'_>,
    parts: &mut [(u64, &mut [u8])],
) -> Vec<Option<Answer>> {
    let entries = parts.iter_mut().map(|(at, buf)| entry(file.as_raw_fd(), buf.as_mut_ptr(), buf.len(), *at));
    // SAFETY: file and buffers are borrowed until this returns.
    unsafe { call::perform_all(here, entries, KernelWait::on(Wait::File, file)) }
}

/// Reads to the buffer.
pub(crate) fn begin(here: Here, file: Arc<File>, mut buffer: AlignedBuf, at: u64) -> Performed<AlignedBuf> {
    let entry = entry(file.as_raw_fd(), buffer.as_mut_ptr(), buffer.len(), at);
    // SAFETY: the file stays open, and the buffer, which is on the heap, in place, as long as they are kept.
    unsafe { future::begin(here, Some(file), buffer, entry) }
}
