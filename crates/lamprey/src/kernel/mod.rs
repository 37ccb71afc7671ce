//! System calls that an older kernel does not have, or that what confines this process refuses; and what is done instead.
//!
//! A kernel says `ENOSYS` to a call that it does not know, and `EINVAL` to an unknown flag. A seccomp filter says what its author
//! chose, most often `EPERM`, but also `EACCES` or `EINVAL`, also for calls that its author did not know. So an answer decides, never
//! the version of the kernel. Most calls have one of these errors themselves: so the call is made once more, without a descriptor, to
//! which the kernel says something else ([`is_refused`]).
//!
//! | call | since | instead | file |
//! |---|---|---|---|
//! | `epoll_pwait2` | 5.11 | `epoll_wait`, whole milliseconds | `epoll` |
//! | `epoll_wait` | 2.6 | `epoll_pwait`, then `epoll_pwait2` | `epoll` |
//! | `preadv2`, `pwritev2` | 4.6 | the call that may wait, on the pool | `no_wait` |
//! | `statx` | 4.11 | `fstatat`, without the time when a file was made | `stat` |
//! | `sendfile` | often refused | a read and a `send` | `sendfile` |
//! | `ioctl(FIONBIO)` | often refused | two `fcntl`s | `nonblocking` |
//! | `process_vm_readv` | 3.2, often refused | a pipe | `own_memory` |
//!
//! Elsewhere: io_uring (`driver/uring/probe.rs`), `membarrier` (`sync_shim.rs`), `pidfd_open` (`process`), light stack guards
//! (`swapstack`), `openat2` (Swerve).
//!
//! # Invariants
//! 1. A call that was refused once is not made again by this process.
//! 2. A call that waits, and fails at once, is not repeated at once: [`after_failed_wait`] is the one place that decides.
//!
//! # Checked by
//! `tests/sandbox`: a filter refuses each call in turn.

pub(crate) mod epoll;
#[cfg(not(loom))]
pub(crate) mod fork;
pub(crate) mod no_wait;
#[cfg(not(loom))]
pub(crate) mod nonblocking;
pub(crate) mod own_memory;
#[cfg(not(loom))]
pub(crate) mod sendfile;
pub(crate) mod stat;
#[cfg(not(loom))]
pub(crate) mod tasks;

use crate::bug::say;
use crate::sync_shim::Ordering;
use crate::sync_shim::plain::AtomicBool;
use rustix::io::Errno;
use std::thread;
use std::time::Duration;

/// Whether a call is known to be refused.
pub(crate) struct Refused(AtomicBool);

impl Refused {
    pub(crate) const fn unknown() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(crate) fn is_known(&self) -> bool {
        // Relaxed: a constant of the process; a thread that reads the old value is refused, too.
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self) {
        // Relaxed: see `is_known`.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// True for the errors of calls that are not available, which the call itself may have, too.
#[inline]
pub(crate) fn may_be_refusal(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::PERM | Errno::ACCESS | Errno::INVAL)
}

/// True if `error`, of `call`, is no error of that use of it: the call is not available. It is asked by making it with `nothing`: arguments
/// for which the kernel has another error, in place of a descriptor -1 and in place of memory null.
#[inline]
pub(crate) fn is_refused(error: Errno, call: libc::c_long, nothing: [isize; 6]) -> bool {
    may_be_refusal(error) && is_refused_now(call, nothing)
}

#[cold]
fn is_refused_now(call: libc::c_long, [a, b, c, d, e, f]: [isize; 6]) -> bool {
    // SAFETY: there is no descriptor, and no memory: the call reads and writes nothing.
    if unsafe { libc::syscall(call, a, b, c, d, e, f) } != -1 {
        return false;
    }
    Errno::from_io_error(&std::io::Error::last_os_error()).is_some_and(may_be_refusal)
}

/// How long a thread rests whose call that waits has failed: long enough to leave the processor to others, short enough for
/// what the failed call does not report.
pub(crate) const REST: Duration = Duration::from_millis(5);

/// What a thread does after `call`, which was to wait, has failed: it goes on at once only after a signal, at the end of the time, or
/// if there is something to take (`EBUSY`, of io_uring). Other errors may come again at once, and for ever.
#[cold]
pub(crate) fn after_failed_wait(call: &str, error: Errno) {
    if tell_failure(call, error) {
        thread::sleep(REST);
    }
}

/// Says once that `call` fails, unless the error may pass. False after an error that is none.
#[cold]
pub(crate) fn tell_failure(call: &str, error: Errno) -> bool {
    static SAID: AtomicBool = AtomicBool::new(false);
    match error {
        Errno::INTR | Errno::TIME | Errno::BUSY => return false,
        // Shortages, which pass.
        Errno::AGAIN | Errno::NOMEM => {}
        // Relaxed: it says no more than whether this was said.
        error if !SAID.swap(true, Ordering::Relaxed) => {
            say!(
                "{call} fails ({error}): events are late, or lost. Does a seccomp filter refuse it, or has its descriptor been closed?"
            );
        }
        _ => {}
    }
    true
}
