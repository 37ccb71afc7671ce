//! Wakes that are owed: collected under a lock, given after it.

use crate::queue::list::List;
use crate::sched::Waiter;

/// Threads that have been taken out of a list and are owed a wake. One is the rule; more cost an allocation.
#[derive(Default)]
pub(super) struct Wakes {
    first: Option<Waiter>,
    rest: Vec<Waiter>,
}

impl Wakes {
    /// Empties `list`.
    pub(super) fn take_all(&mut self, list: &List<Waiter>) {
        while let Some(node) = list.pop() {
            // SAFETY: the node's thread is blocked until the wake that is now owed to it: the node is alive.
            let waiter = unsafe { node.as_ref() }.value;
            match self.first {
                None => self.first = Some(waiter),
                Some(_) => self.rest.push(waiter),
            }
        }
    }

    pub(super) fn give(self) {
        for waiter in self.first.into_iter().chain(self.rest) {
            // SAFETY: `take_all` took this waiter's node out of its list, once, under the list's lock.
            unsafe { waiter.wake() };
        }
    }
}

impl std::fmt::Debug for Wakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wakes")
            .field("count", &(usize::from(self.first.is_some()) + self.rest.len()))
            .finish()
    }
}
