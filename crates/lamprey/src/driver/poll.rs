//! Waiting in `poll(2)`: for threads that have no event loop.
//!
//! Each such thread has a wake eventfd, made when it first waits and kept until the thread ends, so waiting
//! needs no new descriptor each time. A late write to the eventfd, after its thread has gone on, ends the
//! next wait early, once. A child made by `fork` has the eventfd of its parent's thread, of which it must not take wakes: it makes
//! another one.

use std::cell::RefCell;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

use super::readiness::Interest;
use crate::kernel::fork::Process;
use crate::memory::lasting::lasting_local;

/// How often a thread without a wake eventfd (no descriptor was left for one) checks whether its socket has
/// been closed.
const WITHOUT_BELL: Duration = Duration::from_millis(50);

/// How long a thread pauses whose descriptor has nothing but an error: its operation may find nothing each time (messages in
/// a socket's error queue, which only the program takes), and the error is reported until then.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// The calling thread's wake eventfd; `None` when the process is out of descriptors.
pub(super) fn wake_fd() -> Option<Arc<OwnedFd>> {
    lasting_local! {
        static WAKE_FD: RefCell<Option<(Process, Arc<OwnedFd>)>> = RefCell::new(None);
    }
    WAKE_FD.with(|place| {
        let mut place = place.borrow_mut();
        if let Some((process, wake_fd)) = &*place
            && process.is_this()
        {
            return Some(Arc::clone(wake_fd));
        }
        let new = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?);
        *place = Some((Process::this(), Arc::clone(&new)));
        Some(new)
    })
}

/// Ends the `wait` of the thread to which the eventfd belongs.
pub(super) fn signal(wake_fd: &OwnedFd) {
    // Fails only when the counter is full, and then it is readable.
    let _ = rustix::io::write(wake_fd, &1_u64.to_ne_bytes());
}

/// Waits until `fd` may be ready, the eventfd is written to, or `closed` returns true. True if the kernel has reported the end
/// of the stream or an error.
pub(super) fn wait(
    fd: BorrowedFd<'_>,
    interest: Interest,
    wake_fd: Option<&Arc<OwnedFd>>,
    deadline: Option<Instant>,
    closed: impl Fn() -> bool,
) -> io::Result<bool> {
    // A pause does not watch the descriptor: `poll` reports errors of a descriptor even with no events
    // requested.
    let mut watched = Vec::with_capacity(2);
    match interest {
        Interest::Read => watched.push(PollFd::from_borrowed_fd(fd, PollFlags::IN | PollFlags::RDHUP)),
        Interest::Write => watched.push(PollFd::from_borrowed_fd(fd, PollFlags::OUT)),
        Interest::Close => {}
    }
    if let Some(wake_fd) = wake_fd {
        watched.push(PollFd::new(&**wake_fd, PollFlags::IN));
    }
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let pause = if wake_fd.is_none() {
            Some(left.map_or(WITHOUT_BELL, |left| left.min(WITHOUT_BELL)))
        } else {
            left
        };
        let timeout = pause.map(|pause| Timespec {
            tv_sec: pause.as_secs().min(86_400) as i64,
            tv_nsec: pause.subsec_nanos() as _,
        });
        let found = match poll(&mut watched, timeout.as_ref()) {
            Ok(found) => found,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        if let Some(wake_fd) = wake_fd {
            // Resets the eventfd. Fails when its counter is 0 already.
            let _ = rustix::io::read(wake_fd, &mut [0; 8]);
        }
        if closed() || found != 0 {
            let has_more = interest != Interest::Close && has_more(&mut watched);
            // The kernel may report readiness again and again that the operation cannot use, so the time limit counts here, too. The caller tries once
            // more.
            if !closed() && left.is_some_and(|left| left.is_zero()) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            return Ok(has_more);
        }
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

/// True if the first of `watched` is at its end or has an error. With an error alone it pauses, until the eventfd, which is
/// the other one, is written to.
fn has_more(watched: &mut [PollFd<'_>]) -> bool {
    let Some((first, others)) = watched.split_first_mut() else { return false };
    let found = first.revents();
    if found == PollFlags::ERR {
        // Its result does not matter: the caller looks for itself.
        let _ = poll(others, Some(&PAUSE));
    }
    found.intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR)
}
