//! Reading and writing only what the kernel has at hand.

use super::{Refused, is_refused};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::AsFd;

/// In place of an offset: the file's cursor, which advances.
pub(crate) const CURSOR: u64 = u64::MAX;

static READ: Refused = Refused::unknown();
static WRITE: Refused = Refused::unknown();

/// Reads what is at hand.
///
/// # Errors
/// `EAGAIN` if it would have to wait; `ENOSYS` if the kernel cannot be asked for this; `EOPNOTSUPP` and others if it cannot say it of this
/// descriptor; those of the read itself.
#[inline]
pub(crate) fn read(from: impl AsFd, buf: &mut [u8], at: u64) -> Result<usize, Errno> {
    if READ.is_known() {
        return Err(Errno::NOSYS);
    }
    let done = rustix::io::preadv2(from, &mut [IoSliceMut::new(buf)], at, ReadWriteFlags::NOWAIT);
    done.map_err(|error| told(error, &READ, libc::SYS_preadv2))
}

/// Writes what needs no wait.
///
/// # Errors
/// As for [`read`].
#[inline]
pub(crate) fn write(to: impl AsFd, bytes: &[u8], at: u64) -> Result<usize, Errno> {
    if WRITE.is_known() {
        return Err(Errno::NOSYS);
    }
    let done = rustix::io::pwritev2(to, &[IoSlice::new(bytes)], at, ReadWriteFlags::NOWAIT);
    done.map_err(|error| told(error, &WRITE, libc::SYS_pwritev2))
}

/// `ENOSYS` if the call is refused, and not this use of it.
///
/// A sealed file in memory, say, refuses a write by `EPERM`, too.
#[inline]
fn told(error: Errno, refused: &Refused, call: libc::c_long) -> Errno {
    if is_refused(error, call, [-1, 0, 0, 0, 0, libc::RWF_NOWAIT as isize]) {
        refused.note();
        return Errno::NOSYS;
    }
    error
}
