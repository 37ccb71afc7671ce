//! One of the descriptors 0 to 2, read and written without waiting in the kernel.
//!
//! # Invariants
//! * The mode of the open file, which other processes share, is left alone. Each call asks the kernel not to wait (`RWF_NOWAIT`),
//!   or, where that is not offered, asks `poll(2)` first. A terminal is opened again, in non-blocking mode, because `poll(2)` does not
//!   say for how many bytes it has room.
//! * After `poll(2)` has found room in a pipe, there is room for [`CHUNK`] bytes.

use crate::driver::readiness::Interest;
use crate::io::ready::is_ready;
use crate::io::socket::Socket;
use crate::kernel::no_wait::{self, CURSOR};
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use rustix::io::{Errno, read, write};
use rustix::termios::isatty;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// `PIPE_BUF`.
const CHUNK: usize = 4096;

pub(super) struct Stream {
    socket: Socket<Box<dyn AsFd + Send + Sync>>,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It was closed when it was first used: it is at its end, and swallows what is written.
    Closed,
    /// The kernel cannot say when it is ready, and disks are slow: a call that would wait goes to the pool.
    File,
    /// It can be waited for.
    Ready,
}

impl Stream {
    pub(super) fn new(std: impl AsFd + Send + Sync + 'static, interest: Interest) -> Self {
        let kind = match fstat(&std).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Err(_) => Kind::Closed,
            Ok(FileType::RegularFile | FileType::BlockDevice | FileType::Directory) => Kind::File,
            Ok(_) => Kind::Ready,
        };
        let own: Option<Box<dyn AsFd + Send + Sync>> = match terminal(std.as_fd(), interest) {
            Some(own) => Some(Box::new(own)),
            None => None,
        };
        Self { socket: Socket::new(own.unwrap_or_else(|| Box::new(std))), kind }
    }

    /// Reads without waiting for a disk.
    pub(super) fn read_now(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        match no_wait::read(self, buf, CURSOR) {
            Err(error) if is_unsupported(error) && self.kind == Kind::Ready => {
                is_ready(self.as_fd(), Interest::Read)?;
                read(self, buf)
            }
            result => result,
        }
    }

    /// Writes some of `bytes` without waiting for a disk.
    pub(super) fn write_now(&self, bytes: &[u8]) -> Result<usize, Errno> {
        match no_wait::write(self, bytes, CURSOR) {
            Err(error) if is_unsupported(error) && self.kind == Kind::Ready => {
                is_ready(self.as_fd(), Interest::Write)?;
                write(self, &bytes[..bytes.len().min(CHUNK)])
            }
            result => result,
        }
    }

    /// Repeats `operation` until it does not fail with `EAGAIN`.
    pub(super) async fn attempt<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> Result<R, Errno>,
    ) -> io::Result<R> {
        self.socket.attempt_async(interest, None, |_| operation()).await
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The kernel does not offer `RWF_NOWAIT` for such a descriptor (before Linux 6.5 not for pipes, never for terminals).
pub(super) fn is_unsupported(error: Errno) -> bool {
    matches!(error, Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::SPIPE)
}

/// The terminal that `fd` is, opened again in non-blocking mode. `None` if it is none, or may not be opened (after `su`).
fn terminal(fd: BorrowedFd<'_>, interest: Interest) -> Option<impl AsFd + Send + Sync + 'static> {
    // The master of a pseudo-terminal, opened again, would be another terminal.
    let is_master = |device| (major(device), minor(device)) == (5, 2);
    if !isatty(fd) || fstat(fd).is_ok_and(|stat| is_master(stat.st_rdev)) {
        return None;
    }
    let access = if interest == Interest::Write { OFlags::WRONLY } else { OFlags::RDONLY };
    let flags = access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open(format!("/proc/self/fd/{}", fd.as_raw_fd()), flags, Mode::empty()).ok()
}
