//! Ready parasites of a worker, some of which another worker takes: each runs once, and in the end none is
//! pending.
//!
//! That owner and visitor never access the queues at once is checked by `model::steal_queue`: the protocol is
//! the same ([`crate::queue::asymmetric_lock`]).

use super::{Broken, check_bounded, must_fail};
use crate::sched::worker::{Parasite, Worker, WorkerShared};
use crate::sync_shim::{Arc, AtomicUsize, Ordering, thread};
use std::future::poll_fn;
use std::task::Poll;

/// The owner starts parasites that yield once; a visitor takes those that may migrate, and runs them.
fn take_while_the_owner_works() {
    let ran = Arc::new(AtomicUsize::new(0));
    let remote = WorkerShared::new();
    Worker::play(&remote, |worker| {
        let parasites = [true, false].map(|is_shared| {
            let (ran, mut asked) = (ran.clone(), false);
            let work = poll_fn(move |cx| {
                if !std::mem::replace(&mut asked, true) {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                // Relaxed: a number that is read after all threads have ended.
                ran.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(())
            });
            let parasite = Parasite::new(worker, is_shared, work);
            parasite.detach();
            parasite.start(worker);
            parasite
        });
        let theirs = Visited(remote.clone());
        let visitor = thread::spawn(move || {
            let own = WorkerShared::new();
            Worker::play(&own, |worker| worker.relieve(&theirs.remote()));
        });
        worker.run();
        visitor.join().unwrap();
        worker.run();
        worker.assert_nothing_pending();
        assert!(parasites.iter().all(Parasite::is_freed), "one was lost");
    });
    // Relaxed: all threads have ended.
    assert_eq!(ran.load(Ordering::Relaxed), 2);
}

/// A worker's shared state on its way to another thread.
struct Visited(std::sync::Arc<WorkerShared>);

impl Visited {
    fn remote(&self) -> std::sync::Arc<WorkerShared> {
        self.0.clone()
    }
}

// SAFETY: loom finds accesses that the protocol does not allow.
unsafe impl Send for Visited {}

#[test]
fn each_runs_once() {
    check_bounded(3, take_while_the_owner_works);
}

#[test]
fn what_is_taken_and_not_counted_is_caught() {
    must_fail(Broken::WokenCount, take_while_the_owner_works);
}
