//! [`Queue`]: between the loops of a scheduler.

use crate::sync_shim::watched::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;

/// A queue between kernel threads, first in, first out: the ready queue of a scheduler, or that of its pool. (The
/// paper's `Chan`.)
///
/// # Examples
/// ```
/// use lamprey::trace::Queue;
///
/// let queue = Queue::default();
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         queue.push(1);
///         queue.push(2);
///         queue.close();
///     });
///     assert_eq!(std::iter::from_fn(|| queue.pop()).sum::<i32>(), 3);
/// });
/// ```
#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<State<T>>,
    pushed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    is_closed: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State { items: VecDeque::new(), is_closed: false }), pushed: Condvar::new() }
    }
}

impl<T> Queue<T> {
    /// Adds an item at the end, also to a closed queue.
    pub fn push(&self, item: T) {
        self.state().items.push_back(item);
        self.pushed.notify_one();
    }

    /// Takes the first item. None once the queue is closed and empty.
    ///
    /// # Cancellation
    /// Not interruptible.
    ///
    /// # Blocking
    /// The calling kernel thread waits while the queue is empty and not closed.
    pub fn pop(&self) -> Option<T> {
        let has_to_wait = |state: &mut State<T>| state.items.is_empty() && !state.is_closed;
        self.pushed
            .wait_while(self.state(), has_to_wait)
            .unwrap_or_else(PoisonError::into_inner)
            .items
            .pop_front()
    }

    /// No more items will come: who waits for one goes on.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.pushed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
