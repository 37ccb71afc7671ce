//! `CLOSE`: closes a file, which may have to wait for its file system.

use super::{Answer, Here, Kept, Performed, call, future};
use crate::cancel::shield;
use crate::sched::Wait;
use io_uring::opcode;
use io_uring::types::Fd;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

/// `Err(fd)` if the operation was not performed. Not interruptible: an interrupted one has closed the descriptor.
///
/// # Errors
/// The file system's: what was written may be lost. The descriptor is closed all the same.
pub(crate) fn close(here: Here, fd: OwnedFd) -> Result<io::Result<()>, OwnedFd> {
    let entry = opcode::Close::new(Fd(fd.as_raw_fd())).build();
    // SAFETY: the descriptor is this call's own.
    match shield(|| unsafe { call::perform(here, entry, Wait::File, None) }) {
        // An interrupted one has closed it, too.
        Ok(Some(answer)) => {
            let _closed = fd.into_raw_fd();
            Ok(if answer.is_given_up() { Ok(()) } else { answer.value().map(drop) })
        }
        _ => Err(fd),
    }
}

/// A descriptor that is being closed.
pub(crate) struct Closing(i32);

impl Kept for Closing {
    fn abandoned(self, answer: Answer) {
        if answer.is_not_begun() {
            drop(self.not_performed());
        }
    }
}

impl Closing {
    /// The descriptor, after an answer that the operation was not performed.
    pub(crate) fn not_performed(self) -> OwnedFd {
        // SAFETY: from an `OwnedFd`, and not closed.
        unsafe { OwnedFd::from_raw_fd(self.0) }
    }
}

pub(crate) fn begin(here: Here, fd: OwnedFd) -> Performed<Closing> {
    let fd = fd.into_raw_fd();
    // SAFETY: the descriptor is the operation's own.
    unsafe { future::begin(here, None, Closing(fd), opcode::Close::new(Fd(fd)).build()) }
}
