//! The waiters of a descriptor, and their pending wakes: collected under a lock, given after it is released.

use std::cell::Cell;
use std::fmt;
use std::task::Waker;

use crate::queue::list::List;
use crate::sched::{Waiter, wakers};

/// A waiter in a list: the value of a node.
pub(super) enum FdWaiter {
    Thread(Waiter),
    /// A future. The waker is set exactly while the node is in the list. Touched under the list's lock.
    Future(Cell<Option<Waker>>),
}

/// A pending wake of a waiter that has been taken out of a list.
enum Wake {
    Thread(Waiter),
    Future(Waker),
}

/// The pending wakes of waiters that have been taken out of a list. Usually one; only more than one allocate.
#[derive(Default)]
pub(super) struct Wakes {
    first: Option<Wake>,
    rest: Vec<Wake>,
}

impl Wakes {
    /// Takes all waiters out of `list`.
    pub(super) fn take_all(&mut self, list: &List<FdWaiter>) {
        while let Some(node) = list.pop() {
            // SAFETY: the node is alive: its thread is blocked until the wake that is now pending, and its
            // future takes the lock, which the caller holds, before it is dropped.
            let wake = match &unsafe { node.as_ref() }.value {
                FdWaiter::Thread(waiter) => Some(Wake::Thread(*waiter)),
                FdWaiter::Future(waker) => waker.take().map(Wake::Future),
            };
            self.push(wake);
        }
    }

    /// Adds a waker that has been taken out of a slot.
    pub(super) fn add(&mut self, waker: Option<Waker>) {
        self.push(waker.map(Wake::Future));
    }

    fn push(&mut self, wake: Option<Wake>) {
        match self.first {
            None => self.first = wake,
            Some(_) => self.rest.extend(wake),
        }
    }

    /// Gives the wakes, threads first: a waker is code of the program, which may wait for one of those
    /// threads.
    pub(super) fn give(self) {
        let mut wakers = Vec::new();
        for wake in self.first.into_iter().chain(self.rest) {
            match wake {
                // SAFETY: `take_all` took this waiter's node out of its list, once, under the list's lock.
                Wake::Thread(waiter) => unsafe { waiter.wake() },
                Wake::Future(waker) => wakers.push(waker),
            }
        }
        wakers.into_iter().for_each(wakers::wake);
    }
}

impl fmt::Debug for FdWaiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thread(_) => "Thread",
            Self::Future(_) => "Future",
        })
    }
}

impl fmt::Debug for Wakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wakes")
            .field("count", &(usize::from(self.first.is_some()) + self.rest.len()))
            .finish()
    }
}
