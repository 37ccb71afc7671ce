//! `CLOSE`: closes a file, which may have to wait for its file system.

use super::{Answer, Here, Kept, Performed, Place, call, future};
use crate::cancel::shield;
use crate::sched::Wait;
use crate::sched::record::io::KernelWait;
use io_uring::opcode;
use io_uring::types::Fd;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

/// `Err(fd)` if the operation was not performed. Not interruptible: an interrupted one has closed the descriptor.
///
/// # Errors
/// The file system's: what was written may be lost. The descriptor is closed all the same.
pub(crate) fn close(here: Here, fd: OwnedFd) -> Result<io::Result<()>, OwnedFd> {
    let Some(_place) = Place::take(here) else { return Err(fd) };
    let entry = opcode::Close::new(Fd(fd.as_raw_fd())).build();
    // SAFETY: the descriptor is this call's own.
    match shield(|| unsafe { call::perform(here, entry, KernelWait::on(Wait::File, fd.as_fd()), None) }) {
        Ok(Some(answer)) => {
            let _closed = fd.into_raw_fd();
            Ok(closed(answer))
        }
        _ => Err(fd),
    }
}

/// What an answer says. An interrupted one has closed the descriptor, too.
///
/// # Errors
/// The file system's.
pub(crate) fn closed(answer: Answer) -> io::Result<()> {
    if answer.is_given_up() { Ok(()) } else { answer.value().map(drop) }
}

/// A descriptor that is being closed.
pub(crate) struct Closing(i32, #[expect(dead_code, reason = "taken until the answer")] Place);

impl Kept for Closing {
    type Given = OwnedFd;

    fn give_back(self) -> OwnedFd {
        // SAFETY: from an `OwnedFd`, and not closed, as the operation was not performed.
        unsafe { OwnedFd::from_raw_fd(self.0) }
    }

    fn is_given_up(answer: Answer) -> bool {
        answer.is_not_begun()
    }

    fn abandoned(self, answer: Answer) {
        if Self::is_given_up(answer) {
            drop(self.give_back());
        }
    }
}

/// `Err` if there is no place for it.
pub(crate) fn begin(here: Here, fd: OwnedFd) -> Result<Performed<Closing>, OwnedFd> {
    let Some(place) = Place::take(here) else { return Err(fd) };
    let fd = fd.into_raw_fd();
    // SAFETY: the descriptor is the operation's own.
    Ok(unsafe { future::begin(here, None, Closing(fd, place), opcode::Close::new(Fd(fd)).build()) })
}
