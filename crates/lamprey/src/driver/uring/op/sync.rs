//! `FSYNC`: waits until what was written is on the disk.

use super::{Here, Kept, Performed, Place, call, future};
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::types::{Fd, FsyncFlags};
use io_uring::{opcode, squeue};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

fn entry(file: RawFd, only_data: bool) -> squeue::Entry {
    let flags = if only_data { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
    opcode::Fsync::new(Fd(file)).flags(flags).build()
}

/// `None` if the operation was not performed.
///
/// # Errors
/// The kernel's.
pub(crate) fn sync(here: Here, file: BorrowedFd<'_>, only_data: bool) -> io::Result<Option<usize>> {
    let Some(_place) = Place::take(here) else { return Ok(None) };
    // SAFETY: the file is borrowed until this returns.
    unsafe { call::count(here, entry(file.as_raw_fd(), only_data), KernelWait::on(Wait::File, file), None) }
}

/// A file that is being synced.
pub(crate) struct Syncing(#[expect(dead_code, reason = "taken until the answer")] Place);

impl Kept for Syncing {
    type Given = ();

    fn give_back(self) {}
}

/// `Err` if there is no place for it.
pub(crate) fn begin(here: Here, file: Arc<File>, only_data: bool) -> Result<Performed<Syncing>, ()> {
    let Some(place) = Place::take(here) else { return Err(()) };
    let entry = entry(file.as_raw_fd(), only_data);
    // SAFETY: the file stays open as long as it is kept.
    Ok(unsafe { future::begin(here, Some(file), Syncing(place), entry) })
}
