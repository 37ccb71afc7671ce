//! Waiting in an epoll, precisely where the kernel offers that.

use super::{Refused, after_failed_wait, is_refused, tell_failure};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

/// A wait of more than a day ends early and is repeated; that keeps the arithmetic of every kernel in range.
const LONGEST: Duration = Duration::from_secs(86_400);

/// The call has failed, and what it would have fetched is still there.
#[derive(Debug)]
pub(crate) struct Failed;

/// Fetches events into the beginning of `room`, and returns them. It waits until there is one, or for `timeout`; a signal may end the wait
/// early, and so may an error, after a rest. So a loop around it does not spin.
///
/// # Errors
/// The signal, or the error, which has been reported.
pub(crate) fn wait(
    epoll: impl AsFd,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<&mut [Event], Failed> {
    events(epoll, room, timeout).map_err(|Failure { call, error }| {
        if timeout == Some(Duration::ZERO) {
            tell_failure(call, error);
        } else {
            after_failed_wait(call, error);
        }
        Failed
    })
}

/// How often a fetch that fails is repeated, after a rest each time.
const TRIES: usize = 100;

/// Fetches the events that are there, for callers that cannot go on without them: a call that fails is repeated.
pub(crate) fn fetch(epoll: impl AsFd, room: &mut [MaybeUninit<Event>]) -> &mut [Event] {
    let once = |_| {
        let counted = count(epoll.as_fd(), room, Some(Duration::ZERO));
        counted.map_err(|Failure { call, error }| after_failed_wait(call, error)).ok()
    };
    let count = (0..TRIES).find_map(once).unwrap_or(0);
    // SAFETY: the kernel has filled in so many.
    unsafe { room[..count].assume_init_mut() }
}

/// As [`wait`], for callers that can tell their own caller of an error.
///
/// # Errors
/// The kernel's.
pub(crate) fn try_wait(
    epoll: impl AsFd,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<&mut [Event], Errno> {
    events(epoll, room, timeout).map_err(|failure| failure.error)
}

fn events(
    epoll: impl AsFd,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<&mut [Event], Failure> {
    let count = count(epoll.as_fd(), room, timeout)?;
    // SAFETY: the kernel has filled in so many.
    Ok(unsafe { room[..count].assume_init_mut() })
}

/// The call that has failed, of those that there are for it.
#[derive(Debug, PartialEq, Eq)]
struct Failure {
    call: &'static str,
    error: Errno,
}

/// No descriptor, and no room for the one event that is asked for, of which there must be one.
const NOTHING: [isize; 6] = [-1, 0, 1, 0, 0, 0];

/// Fetches events; returns how many.
fn count(
    epoll: BorrowedFd<'_>,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<usize, Failure> {
    static PRECISE: Refused = Refused::unknown();
    let timeout = timeout.map(|timeout| timeout.min(LONGEST));
    if timeout.is_none_or(|timeout| timeout.subsec_nanos() % 1_000_000 == 0) || PRECISE.is_known() {
        return in_milliseconds(epoll, room, timeout);
    }
    match precisely(epoll, room, timeout) {
        Err(Failure { error, .. }) if is_refused(error, libc::SYS_epoll_pwait2, NOTHING) => {
            PRECISE.note();
            in_milliseconds(epoll, room, timeout)
        }
        counted => counted,
    }
}

/// `epoll_pwait2`.
fn precisely(
    epoll: BorrowedFd<'_>,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<usize, Failure> {
    let until = timeout.map(|timeout| Timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let waited = epoll::wait(epoll, room, until.as_ref());
    waited.map(|(events, _)| events.len()).map_err(|error| Failure { call: "epoll_pwait2", error })
}

/// The system call that `epoll_wait` of the C library is. AArch64 has none.
#[cfg(target_arch = "x86_64")]
const PLAIN_CALL: libc::c_long = libc::SYS_epoll_wait;
#[cfg(not(target_arch = "x86_64"))]
const PLAIN_CALL: libc::c_long = libc::SYS_epoll_pwait;

/// The call of all kernels, whose timeout is rounded up to milliseconds. A sandbox may know only its successors.
fn in_milliseconds(
    epoll: BorrowedFd<'_>,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<usize, Failure> {
    static PLAIN: Refused = Refused::unknown();
    static MASKED: Refused = Refused::unknown();
    let (fd, events) = (epoll.as_raw_fd(), room.as_mut_ptr().cast());
    let milliseconds = timeout.map_or(-1, |timeout| timeout.as_nanos().div_ceil(1_000_000) as libc::c_int);
    let most = libc::c_int::try_from(room.len()).unwrap_or(libc::c_int::MAX);
    if !PLAIN.is_known() {
        // SAFETY: `Event` has the layout of the kernel's `epoll_event`, and `room` has room for `most` of them.
        match counted("epoll_wait", unsafe { libc::epoll_wait(fd, events, most, milliseconds) }) {
            Err(Failure { error, .. }) if is_refused(error, PLAIN_CALL, NOTHING) => PLAIN.note(),
            counted => return counted,
        }
    }
    if !MASKED.is_known() {
        // SAFETY: as above; without a mask of signals.
        let waited = unsafe { libc::epoll_pwait(fd, events, most, milliseconds, std::ptr::null()) };
        match counted("epoll_pwait", waited) {
            Err(Failure { error, .. }) if is_refused(error, libc::SYS_epoll_pwait, NOTHING) => MASKED.note(),
            counted => return counted,
        }
    }
    precisely(epoll, room, timeout)
}

/// What a call of the C library has returned.
fn counted(call: &'static str, returned: libc::c_int) -> Result<usize, Failure> {
    let error = || Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO);
    usize::try_from(returned).map_err(|_| Failure { call, error: error() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll::{CreateFlags, create};
    use std::time::Instant;

    #[test]
    fn neither_call_ends_early() {
        let epoll = create(CreateFlags::CLOEXEC).unwrap();
        let mut room = [const { MaybeUninit::<Event>::uninit() }; 4];
        for limit in [0, 1, 999_999, 1_000_000, 1_000_001, 2_500_000].map(Duration::from_nanos) {
            for by in [count, in_milliseconds, precisely] {
                let start = Instant::now();
                assert_eq!(by(epoll.as_fd(), &mut room, Some(limit)), Ok(0));
                assert!(start.elapsed() >= limit, "ended early: {limit:?}");
            }
        }
    }

    #[test]
    fn a_wait_that_cannot_be_made_rests() {
        let none = std::fs::File::open("/dev/null").unwrap();
        let start = Instant::now();
        assert!(wait(&none, &mut [MaybeUninit::uninit()], None).is_err());
        assert!(start.elapsed() >= super::super::REST);
        assert!(try_wait(&none, &mut [MaybeUninit::uninit()], None).is_err());
    }
}
