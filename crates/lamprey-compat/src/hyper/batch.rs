//! What a connection of HTTP/2 starts while it is polled is started together, after that poll.
//!
//! The connection looks at all requests that have come, and writes what is answered, before it takes the next one. If each handler began at
//! once, as parasites do, a crowd of requests would cost a system call for each answer. And if each began by itself, later, the first one that
//! answers would wake the connection, which runs ahead of the others, with the same result.
//!
//! # Invariant
//! A batch belongs to the parasite that starts it, which is dropped with it when its runtime ends: nothing stays in the thread-local.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

type Starts = RefCell<Vec<Box<dyn FnOnce()>>>;

thread_local! {
    /// The batch of this worker that has not begun.
    static OPEN: RefCell<Weak<Starts>> = const { RefCell::new(Weak::new()) };
}

/// Calls `start` on this worker, after what is ready now.
///
/// # Panics
/// Outside of Lamprey's threads.
pub(super) fn later(start: impl FnOnce() + 'static) {
    let start: Box<dyn FnOnce()> = Box::new(start);
    // If the thread-local has been destroyed (the process exits), each start is a batch.
    if let Ok(Some(open)) = OPEN.try_with(|open| open.borrow().upgrade()) {
        return open.borrow_mut().push(start);
    }
    let batch = Rc::new(RefCell::new(vec![start]));
    let _ = OPEN.try_with(|open| open.replace(Rc::downgrade(&batch)));
    lamprey::parasite_local(async move {
        lamprey::yield_now_async().await;
        // Closed before it begins: what comes from now on does not wait for one of these that blocks.
        let _ = OPEN.try_with(RefCell::take);
        batch.take().into_iter().for_each(|start| start());
    })
    .detach();
}
