//! Who waits for a descriptor, and the wakes that are owed: collected under a lock, given after it.

use std::cell::Cell;
use std::fmt;
use std::task::Waker;

use crate::queue::list::List;
use crate::sched::{Waiter, wakers};

/// Who waits in a list: what a node carries.
pub(super) enum Waiting {
    Thread(Waiter),
    /// A future, whose waker is there exactly while the node is in the list. Under the list's lock.
    Future(Cell<Option<Waker>>),
}

/// A wake that is owed to one of them.
enum Wake {
    Thread(Waiter),
    Future(Waker),
}

/// Those that have been taken out of a list and are owed a wake. One is the rule; more cost an allocation.
#[derive(Default)]
pub(super) struct Wakes {
    first: Option<Wake>,
    rest: Vec<Wake>,
}

impl Wakes {
    /// Empties `list`.
    pub(super) fn take_all(&mut self, list: &List<Waiting>) {
        while let Some(node) = list.pop() {
            // SAFETY: the node is alive: its thread is blocked until the wake that is now owed to it, and its
            // future cannot be dropped before it has had the lock, which the caller holds.
            let wake = match &unsafe { node.as_ref() }.value {
                Waiting::Thread(waiter) => Some(Wake::Thread(*waiter)),
                Waiting::Future(waker) => waker.take().map(Wake::Future),
            };
            match self.first {
                None => self.first = wake,
                Some(_) => self.rest.extend(wake),
            }
        }
    }

    /// Threads first: a waker is code of the program, which may wait for one of them.
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

impl fmt::Debug for Waiting {
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
