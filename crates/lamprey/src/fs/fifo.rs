//! Opening a FIFO, or once more ([`twin_of_fifo`]). Opening one waits until the other end is opened: on the pool it would keep a kernel thread, which nothing
//! interrupts, for as long as that takes. Instead the FIFO is opened in non-blocking mode, looked at now and then, and put into
//! blocking mode when the other end is there. (io_uring gives up an open that waits, so it may wait there for [`PATIENCE`].)
//!
//! Invariant: the open file belongs to the caller alone until it is returned.
//!
//! # Rejected
//! * To wait for readiness: the kernel reports data and the end, but not that a writer has come. Two programs that open two
//!   FIFOs for each other would wait for ever.
//! * A signal that interrupts the pool's thread: one signal less for the program, and libraries that are not ready for it.

use super::open::ask;
use super::perform::block_async;
use crate::driver::readiness::Interest;
use crate::io::ready::is_ready;
use crate::sched::{self, must_not_block};
use crate::sleep::sleep_async;
use crate::world;
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, openat, stat};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// The time between two looks: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));

/// How long the open of a host may wait in the ring, before it goes on here: it keeps a thread of the kernel's, which may be the only one that
/// the process can have (`RLIMIT_NPROC`, `pids.max`), and then holds up all other operations on files.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// What an open on the pool has come to.
pub(super) enum Opened {
    File(OwnedFd),
    /// The path leads to a FIFO, whose open may wait. The descriptor only names it.
    Fifo(OwnedFd),
}

/// True if the caller can wait otherwise than on its kernel thread, or on one of the pool's.
pub(super) fn can_wait() -> bool {
    sched::on_host() && !must_not_block() && !world::is_simulated()
}

/// Opens a file, but not a FIFO for whose other end it would wait. On a pool thread.
pub(super) fn open_unless_it_waits(path: &CStr, flags: i32, mode: u32) -> io::Result<Opened> {
    if may_wait(flags)
        && stat(path).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo)
        && let Ok(fifo) = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    {
        return Ok(Opened::Fifo(fifo));
    }
    ask(path, flags, mode).map(Opened::File)
}

/// Whether an open with these flags may wait for another end, for all that is known.
pub(super) fn may_wait(flags: i32) -> bool {
    const OTHERWISE: i32 =
        libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_PATH | libc::O_EXCL | libc::O_DIRECTORY;
    flags & OTHERWISE == 0 && flags & libc::O_ACCMODE != libc::O_RDWR
}

/// Goes on with what [`open_unless_it_waits`] has found.
pub(super) async fn finish(opened: Opened, path: CString, flags: i32, mode: u32) -> io::Result<OwnedFd> {
    match opened {
        Opened::File(fd) => Ok(fd),
        // Boxed: it is rare, and has a timer.
        Opened::Fifo(fifo) => Box::pin(open(fifo, path, flags, mode)).await,
    }
}

/// Opens a FIFO when the other end is there.
async fn open(fifo: OwnedFd, path: CString, flags: i32, mode: u32) -> io::Result<OwnedFd> {
    // Not by its path, which may be another file's by now.
    let by_number = by_number(fifo.as_fd())?;
    let quickly = flags & !(libc::O_CREAT | libc::O_TRUNC) | libc::O_NONBLOCK;
    let (mut pause, longest) = PAUSES;
    let mut reader = None;
    loop {
        if let Some(fd) = reader.take_if(|fd: &mut OwnedFd| has_writer(fd.as_fd())) {
            return blocking(fd);
        }
        if reader.is_none() {
            match ask(&by_number, quickly, 0) {
                Ok(fd) if flags & libc::O_ACCMODE == libc::O_WRONLY => return blocking(fd),
                Ok(fd) => {
                    reader = Some(fd);
                    continue;
                }
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {}
                // No `/proc` here.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return block_async(move || ask(&path, flags, mode)).await;
                }
                Err(error) => return Err(error),
            }
        }
        sleep_async(pause).await;
        pause = longest.min(pause * 2);
    }
}

/// Another open file of the FIFO that `file` is: with the same access, in non-blocking mode. `None` of another kind of file, and
/// where it cannot be opened again.
pub(super) fn twin_of_fifo(file: impl AsFd) -> Option<OwnedFd> {
    let file = file.as_fd();
    if FileType::from_raw_mode(fstat(file).ok()?.st_mode) != FileType::Fifo {
        return None;
    }
    let access = fcntl_getfl(file).ok()? & OFlags::ACCMODE;
    ask(&by_number(file).ok()?, (access | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32, 0).ok()
}

/// A path to an open file.
fn by_number(fd: BorrowedFd<'_>) -> io::Result<CString> {
    Ok(CString::new(format!("/proc/self/fd/{}", fd.as_raw_fd()))?)
}

fn blocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&fd, fcntl_getfl(&fd)? - OFlags::NONBLOCK)?;
    Ok(fd)
}

/// Whether the FIFO of this reader, which is in non-blocking mode, has or had a writer since it was opened.
fn has_writer(reader: BorrowedFd<'_>) -> bool {
    if is_ready(reader, Interest::Read).is_ok() {
        return true;
    }
    // SAFETY: the kernel finds no memory at that address, so it writes nothing, and takes nothing out of the FIFO.
    let end = unsafe { libc::read(reader.as_raw_fd(), std::ptr::null_mut(), 1) };
    // The end: no writer. Otherwise it would wait for one that is there, or has bytes for that address.
    end != 0
}
