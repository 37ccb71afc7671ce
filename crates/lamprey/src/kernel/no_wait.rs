//! Reading and writing only what the kernel has at hand.

use super::{Refused, is_refusal};
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
#[inline]
fn told(error: Errno, refused: &Refused, call: libc::c_long) -> Errno {
    if is_refusal(error) { tell(error, refused, call) } else { error }
}

/// A sealed file in memory, say, refuses a write by `EPERM`, too. A kernel that has the call says `EBADF` to no descriptor.
#[cold]
fn tell(error: Errno, refused: &Refused, call: libc::c_long) -> Errno {
    let (none, nothing) = (-1_isize, 0_usize);
    // SAFETY: no descriptor, and no pieces of memory: the call reads and writes nothing.
    unsafe { libc::syscall(call, none, nothing, nothing, nothing, nothing, libc::RWF_NOWAIT as usize) };
    match Errno::from_io_error(&std::io::Error::last_os_error()) {
        Some(answer) if is_refusal(answer) => {
            refused.note();
            Errno::NOSYS
        }
        _ => error,
    }
}
