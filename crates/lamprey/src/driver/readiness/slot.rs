//! How a task waits for a descriptor between two calls of a poll form, which have no future to keep a node in: its waker is kept
//! in the slot of the direction.
//!
//! Invariants
//! * As for nodes: the waker enters the slot only under the lock, and only if there has been no edge since the system call.
//! * One task per direction: a waker that another one replaces is not woken.
//! * A waker may outlive its task there, until the next edge or the end of the socket. It holds memory of the task, not its
//!   future, so a task that owns the socket is no circle.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Interest, Readiness};
use crate::driver::reactor::Reactor;
use crate::sched::{self, Wait, coop};
use crate::sync_shim::left_out;

impl Readiness {
    /// The form of [`wait`](Self::wait) for a task that polls on `reactor`'s thread: ready when there have been more than `seen`
    /// edges (the caller tries again), or the descriptor has been closed.
    ///
    /// # Errors
    /// The kernel's when it cannot register `fd`.
    pub(crate) fn poll_with(
        self: &Arc<Self>,
        reactor: Arc<Reactor>,
        fd: BorrowedFd<'_>,
        interest: Interest,
        seen: u64,
        context: &Context<'_>,
    ) -> Poll<io::Result<()>> {
        coop::look_by_poll(context);
        // Cloned before the lock is taken, and the one before dropped after it is released: both are code of the program.
        let waker = context.waker().clone();
        sched::note(context, if interest == Interest::Write { Wait::Writable } else { Wait::Readable });
        let before = {
            let early = left_out!(EdgeCount).then(|| self.edges(interest));
            let mut state = self.lock();
            self.register(&mut state, fd, reactor, interest)?;
            if self.is_closed() || early.unwrap_or_else(|| self.edges(interest)) != seen {
                return Poll::Ready(Ok(()));
            }
            state.slots[usize::from(interest == Interest::Write)].replace(waker)
        };
        drop(before);
        Poll::Pending
    }
}
