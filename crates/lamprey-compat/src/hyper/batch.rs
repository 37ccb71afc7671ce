//! What a connection of HTTP/2 starts while it is polled is started together, after that poll.
//!
//! The connection looks at all requests that have come, and writes what is answered, before it takes the next one. If each handler began at
//! once, as parasites do, a crowd of requests would cost a system call for each answer. And if each began by itself, later, the first one that
//! answers would wake the connection, which runs ahead of the others, with the same result.
//!
//! # Invariants
//! 1. All starts of a batch are of one worker. (In a simulation the workers of all machines share a kernel thread, and its thread-locals.)
//! 2. A batch belongs to the parasite that starts it, and is dropped with it when its runtime or machine ends: nothing stays in the
//!    thread-local.
//! 3. Nothing joins a batch that has begun.

use lamprey::Handle;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

type Start = Box<dyn FnOnce()>;

/// What one worker starts together.
struct Batch {
    worker: Worker,
    /// `None` once they have begun.
    starts: RefCell<Option<Vec<Start>>>,
}

/// A runtime (in a simulation: of one machine), and the number of a worker there.
#[derive(PartialEq)]
struct Worker(Handle, Option<usize>);

thread_local! {
    /// The batch that was opened last on this kernel thread.
    static LATEST: RefCell<Weak<Batch>> = const { RefCell::new(Weak::new()) };
}

/// Calls `start` on the calling thread's worker, after what is ready now. `runtime` is that of the calling thread.
pub(super) fn later(runtime: Handle, start: impl FnOnce() + 'static) {
    let start: Start = Box::new(start);
    let worker = Worker(runtime, lamprey::current().worker());
    // If the thread-local has been destroyed (the process exits), each start is a batch.
    let latest = LATEST.try_with(|latest| latest.borrow().upgrade()).ok().flatten();
    if let Some(batch) = latest.filter(|batch| batch.worker == worker)
        && let Some(starts) = batch.starts.borrow_mut().as_mut()
    {
        return starts.push(start);
    }
    // In place of another worker's, if there is one: that begins with what it has.
    let batch = Rc::new(Batch { worker, starts: RefCell::new(Some(vec![start])) });
    let _ = LATEST.try_with(|latest| latest.replace(Rc::downgrade(&batch)));
    lamprey::parasite_local(async move {
        lamprey::yield_now_async().await;
        // Taken before they begin: what comes from now on does not wait for one of these that blocks.
        let starts = batch.starts.take();
        starts.into_iter().flatten().for_each(|start| start());
    })
    .detach();
}
