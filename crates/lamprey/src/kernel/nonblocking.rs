//! Putting an open file into non-blocking mode, and back.

use super::{Refused, is_refused};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, ioctl_fionbio};
use std::os::fd::AsFd;

static REFUSED: Refused = Refused::unknown();

/// By one call, or by two where a sandbox refuses `ioctl`.
///
/// # Errors
/// Those of the calls.
pub(crate) fn set_nonblocking(fd: impl AsFd, on: bool) -> Result<(), Errno> {
    if !REFUSED.is_known() {
        match ioctl_fionbio(&fd, on) {
            Err(error) if is_refused(error, libc::SYS_ioctl, [-1, libc::FIONBIO as isize, 0, 0, 0, 0]) => {
                REFUSED.note();
            }
            done => return done,
        }
    }
    let flags = fcntl_getfl(&fd)?;
    fcntl_setfl(&fd, if on { flags | OFlags::NONBLOCK } else { flags - OFlags::NONBLOCK })
}
