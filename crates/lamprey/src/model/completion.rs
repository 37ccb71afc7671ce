//! Completion: the joiner gets the outcome or the host drops it, exactly once, in whatever order they come.

use super::{Broken, check, check_bounded, must_fail};
use crate::sched::Wait;
use crate::sched::completion::{Completion, Published};
use crate::sched::wait::{Early, Waited, wait};
use crate::sched::worker::{Parasite, Worker, WorkerShared, with_strange_context};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Instant;

/// A host's join cell reduced to its outcome.
struct JoinCell {
    completion: Completion,
    outcome: UnsafeCell<u32>,
}

// SAFETY: the outcome is reached only as the completion word allows; loom checks it.
unsafe impl Sync for JoinCell {}

impl JoinCell {
    fn new() -> Arc<Self> {
        Arc::new(Self { completion: Completion::new(), outcome: UnsafeCell::new(0) })
    }

    /// The host's side; true if the host had to drop the outcome.
    fn end(&self) -> bool {
        // SAFETY: the outcome is not published yet.
        self.outcome.with_mut(|outcome| unsafe { *outcome = 7 });
        match self.completion.publish() {
            Published::Kept => false,
            Published::PendingWake(waiter) => {
                // SAFETY: `publish` took the waiter out of the word.
                unsafe { waiter.wake_kept() };
                false
            }
            Published::Unwanted => {
                // SAFETY: the handle is gone, so only the host has the outcome.
                self.outcome.with_mut(|outcome| unsafe { *outcome = 0 });
                true
            }
        }
    }

    fn take(&self) -> u32 {
        // SAFETY: the host is done, so the outcome is the handle's.
        self.outcome.with_mut(|outcome| unsafe { std::mem::take(&mut *outcome) })
    }
}

#[test]
fn join_while_the_host_ends() {
    check(|| {
        let join_cell = JoinCell::new();
        let theirs = join_cell.clone();
        let host = thread::spawn(move || theirs.end());
        assert!(join_cell.completion.is_done() || join_cell.completion.wait(std::ptr::null()));
        assert!(join_cell.completion.is_done());
        assert_eq!(join_cell.take(), 7);
        assert!(!host.join().unwrap());
    });
}

#[test]
fn detach_while_the_host_ends() {
    check(|| {
        let join_cell = JoinCell::new();
        let theirs = join_cell.clone();
        let host = thread::spawn(move || theirs.end());
        let detached = join_cell.completion.detach();
        if !detached {
            assert_eq!(join_cell.take(), 7);
        }
        assert_eq!(host.join().unwrap(), detached);
    });
}

#[test]
fn joiner_gives_up_while_the_host_ends() {
    check(|| {
        let join_cell = JoinCell::new();
        let theirs = join_cell.clone();
        let host = thread::spawn(move || theirs.end());
        let (register, unregister) =
            (|me| join_cell.completion.register(me), |me| join_cell.completion.unregister(me));
        let waited = wait(Wait::Join, Some(Instant::now()), register, unregister);
        if waited != Waited::Left(Early::TimedOut) {
            assert_eq!(join_cell.take(), 7);
        }
        assert!(!host.join().unwrap());
    });
}

/// A stackless parasite runs the future of `join` on a host's join cell while that host ends.
fn joiner<W: Future<Output = ()> + 'static>(join: impl FnOnce(Arc<JoinCell>) -> W) {
    Worker::play(&WorkerShared::new(), |worker| {
        let join_cell = JoinCell::new();
        let parasite = Parasite::new(worker, false, join(join_cell.clone()));
        let host = thread::spawn(move || join_cell.end());
        parasite.start(worker);
        parasite.detach();
        worker.run();
        host.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "the host did not wake its joiner");
    });
}

/// Waits for the outcome and takes it. With `again` it is polled once without a wake.
fn join(join_cell: Arc<JoinCell>, mut again: bool) -> impl Future<Output = ()> {
    poll_fn(move |cx| {
        if std::mem::take(&mut again) {
            cx.waker().wake_by_ref();
        }
        if !join_cell.completion.poll(cx) {
            return Poll::Pending;
        }
        assert_eq!(join_cell.take(), 7);
        Poll::Ready(())
    })
}

fn joiner_as_a_future() {
    joiner(|join_cell| join(join_cell, false));
}

#[test]
fn await_while_the_host_ends() {
    check(joiner_as_a_future);
}

#[test]
fn joiner_ends_before_its_wake() {
    check_bounded(3, || joiner(|join_cell| join(join_cell, true)));
}

#[test]
fn another_waker_while_the_host_ends() {
    check(|| {
        joiner(|join_cell| async {
            let _ = with_strange_context(|cx| join_cell.completion.poll(cx));
            join(join_cell, false).await;
        });
    });
}

#[test]
fn awaiting_handle_is_dropped_while_the_host_ends() {
    check_bounded(3, || {
        joiner(|join_cell| {
            let mut polls = 0;
            poll_fn(move |cx| {
                polls += 1;
                cx.waker().wake_by_ref();
                if polls == 1 && !join_cell.completion.poll(cx) {
                    return Poll::Pending;
                }
                if !join_cell.completion.detach() {
                    assert_eq!(join_cell.take(), 7);
                }
                Poll::Ready(())
            })
        });
    });
}

#[test]
fn without_order_it_is_caught() {
    must_fail(Broken::Exchange, joiner_as_a_future);
}
