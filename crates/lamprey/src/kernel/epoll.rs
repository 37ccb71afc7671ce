//! Waiting in an epoll, precisely where the kernel offers that.

use super::{Refused, after_failed_wait, is_refusal, tell_failure};
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
    try_wait(epoll, room, timeout).map_err(|error| {
        if timeout == Some(Duration::ZERO) {
            tell_failure("epoll_wait", error);
        } else {
            after_failed_wait("epoll_wait", error);
        }
        Failed
    })
}

/// How often a fetch that fails is repeated, with a rest before each, for those that cannot go on without.
pub(crate) const TRIES: usize = 100;

/// Fetches the events that are there, for callers that cannot go on without them: a call that fails is repeated.
pub(crate) fn fetch(epoll: impl AsFd, room: &mut [MaybeUninit<Event>]) -> &mut [Event] {
    let once = |_| {
        let counted = count(epoll.as_fd(), room, Some(Duration::ZERO));
        counted.map_err(|error| after_failed_wait("epoll_wait", error)).ok()
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
    let count = count(epoll.as_fd(), room, timeout)?;
    // SAFETY: the kernel has filled in so many.
    Ok(unsafe { room[..count].assume_init_mut() })
}

/// Fetches events; returns how many.
fn count(
    epoll: BorrowedFd<'_>,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    static PRECISE: Refused = Refused::unknown();
    let timeout = timeout.map(|timeout| timeout.min(LONGEST));
    if timeout.is_none_or(|timeout| timeout.subsec_nanos() % 1_000_000 == 0) || PRECISE.is_known() {
        return in_milliseconds(epoll, room, timeout);
    }
    match precisely(epoll, room, timeout) {
        Err(error) if is_refusal(error) => {
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
) -> Result<usize, Errno> {
    let until = timeout.map(|timeout| Timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    epoll::wait(epoll, room, until.as_ref()).map(|(events, _)| events.len())
}

/// The call of all kernels, whose timeout is rounded up to milliseconds. A sandbox may know only its successors.
fn in_milliseconds(
    epoll: BorrowedFd<'_>,
    room: &mut [MaybeUninit<Event>],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    static PLAIN: Refused = Refused::unknown();
    static MASKED: Refused = Refused::unknown();
    let (fd, events) = (epoll.as_raw_fd(), room.as_mut_ptr().cast());
    let milliseconds = timeout.map_or(-1, |timeout| timeout.as_nanos().div_ceil(1_000_000) as libc::c_int);
    let most = libc::c_int::try_from(room.len()).unwrap_or(libc::c_int::MAX);
    if !PLAIN.is_known() {
        // SAFETY: `Event` has the layout of the kernel's `epoll_event`, and `room` has room for `most` of them.
        match counted(unsafe { libc::epoll_wait(fd, events, most, milliseconds) }) {
            Err(error) if is_refusal(error) => PLAIN.note(),
            counted => return counted,
        }
    }
    if !MASKED.is_known() {
        // SAFETY: as above; without a mask of signals.
        match counted(unsafe { libc::epoll_pwait(fd, events, most, milliseconds, std::ptr::null()) }) {
            Err(error) if is_refusal(error) => MASKED.note(),
            counted => return counted,
        }
    }
    precisely(epoll, room, timeout)
}

/// What a call of the C library has returned.
fn counted(returned: libc::c_int) -> Result<usize, Errno> {
    usize::try_from(returned)
        .map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
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
