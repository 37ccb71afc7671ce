//! How a future waits for a descriptor: with a node in the same lists as threads.
//!
//! Invariants
//! * The node is part of the pinned future, and is taken out of its list before the future is dropped.
//! * `queued` is set before the node is in a list for the first time. So a future that never had to wait is
//!   dropped without taking the lock.
//!
//! Edges wake all waiters, so a future that is dropped after it has been woken takes no wake from another
//! one.

use std::cell::Cell;
use std::io;
use std::marker::PhantomPinned;
use std::os::fd::BorrowedFd;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Interest, Readiness};
use crate::driver::outside::outside;
use crate::driver::reactor::Reactor;
use crate::driver::wakes::FdWaiter;
use crate::queue::list::Node;
use crate::sched::record::io::KernelWait;
use crate::sched::{self, Wait, coop};

/// A future's wait node in the list for `interest`.
pub(crate) struct EdgeWait<'a> {
    readiness: &'a Arc<Readiness>,
    interest: Interest,
    queued: Cell<bool>,
    node: Node<FdWaiter>,
    _pinned: PhantomPinned,
}

// SAFETY: a node in a list, and its waker, are touched only under the list's lock; everything else only by
// the future's owner.
unsafe impl Send for EdgeWait<'_> {}

impl<'a> EdgeWait<'a> {
    pub(crate) fn new(readiness: &'a Arc<Readiness>, interest: Interest) -> Self {
        let node = Node::new(FdWaiter::Future(Cell::new(None)));
        Self { readiness, interest, queued: Cell::new(false), node, _pinned: PhantomPinned }
    }

    /// The form of [`Readiness::wait`] for futures: ready when there have been more than `seen` edges (the
    /// caller tries again), or the socket has been closed.
    ///
    /// # Errors
    /// The kernel's when it cannot register `fd`, or cannot give a reactor to a future that is polled outside
    /// of every worker.
    pub(crate) fn poll_after(
        self: Pin<&mut Self>,
        fd: BorrowedFd<'_>,
        seen: u64,
        context: &Context<'_>,
    ) -> Poll<io::Result<()>> {
        coop::look_by_poll(context);
        let this = self.into_ref().get_ref();
        let waker = context.waker().clone();
        match this.interest {
            Interest::Read => sched::note(context, Wait::Readable),
            Interest::Write => sched::note(context, Wait::Writable),
            Interest::Close => {}
        }
        // A pause needs no reactor: it waits only for `close`.
        let reactor = if this.interest == Interest::Close { None } else { Some(reactor()?) };
        let before = {
            let mut state = this.readiness.lock();
            if let Some(reactor) = reactor {
                this.readiness.register(&mut state, fd, reactor, this.interest)?;
            }
            if this.readiness.is_closed() || this.readiness.edges(this.interest) != seen {
                return Poll::Ready(Ok(()));
            }
            let FdWaiter::Future(place) = &this.node.value else {
                crate::bug::bug!("the node of a future is not one")
            };
            let before = place.replace(Some(waker));
            if before.is_none() {
                match this.interest {
                    Interest::Read => KernelWait::on(Wait::Readable, fd).begins(),
                    Interest::Write => KernelWait::on(Wait::Writable, fd).begins(),
                    Interest::Close => {}
                }
                this.queued.set(true);
                // SAFETY: in no list, as it had no waker. Pinned, and removed in `drop`; the lock is held.
                unsafe { state.waiters(this.interest).push(NonNull::from(&this.node)) };
            }
            before
        };
        drop(before);
        Poll::Pending
    }
}

impl Drop for EdgeWait<'_> {
    fn drop(&mut self) {
        if self.queued.get() {
            // SAFETY: the node was pushed to this list or to none; the lock is held during the call.
            unsafe { self.readiness.lock().waiters(self.interest).remove(NonNull::from(&self.node)) };
        }
    }
}

/// The reactor that serves the futures polled on this thread.
pub(crate) fn reactor() -> io::Result<Arc<Reactor>> {
    match Reactor::current() {
        Some(reactor) => Ok(reactor),
        None => Ok(outside()?.reactor.clone()),
    }
}

#[cfg(test)]
mod tests;
