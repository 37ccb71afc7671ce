//! Completion: the joiner gets the outcome or the host drops it, exactly once, in whatever order they come.

use super::{Broken, check, check_bounded, must_fail};
use crate::sched::Wait;
use crate::sched::completion::{Completion, Published};
use crate::sched::wait::{Early, Waited, wait};
use crate::sched::worker::{Parasite, Seat, Worker, with_strange_context};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Instant;

/// A host's join cell reduced to its outcome.
struct Packet {
    completion: Completion,
    outcome: UnsafeCell<u32>,
}

// SAFETY: the outcome is reached only as the completion word allows; loom checks it.
unsafe impl Sync for Packet {}

impl Packet {
    fn new() -> Arc<Self> {
        Arc::new(Self { completion: Completion::new(), outcome: UnsafeCell::new(0) })
    }

    /// The host's side; true if the host had to drop the outcome.
    fn end(&self) -> bool {
        // SAFETY: the outcome is not published yet.
        self.outcome.with_mut(|outcome| unsafe { *outcome = 7 });
        match self.completion.publish() {
            Published::Kept => false,
            Published::Owed(waiter) => {
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
        let packet = Packet::new();
        let theirs = packet.clone();
        let host = thread::spawn(move || theirs.end());
        assert!(packet.completion.is_done() || packet.completion.wait());
        assert!(packet.completion.is_done());
        assert_eq!(packet.take(), 7);
        assert!(!host.join().unwrap());
    });
}

#[test]
fn detach_while_the_host_ends() {
    check(|| {
        let packet = Packet::new();
        let theirs = packet.clone();
        let host = thread::spawn(move || theirs.end());
        let detached = packet.completion.detach();
        if !detached {
            assert_eq!(packet.take(), 7);
        }
        assert_eq!(host.join().unwrap(), detached);
    });
}

#[test]
fn joiner_gives_up_while_the_host_ends() {
    check(|| {
        let packet = Packet::new();
        let theirs = packet.clone();
        let host = thread::spawn(move || theirs.end());
        let (register, unregister) =
            (|me| packet.completion.register(me), |me| packet.completion.unregister(me));
        let waited = wait(Wait::Join, Some(Instant::now()), register, unregister);
        if waited != Waited::Left(Early::TimedOut) {
            assert_eq!(packet.take(), 7);
        }
        assert!(!host.join().unwrap());
    });
}

/// A stackless parasite runs the future of `join` on a host's join cell while that host ends.
fn joiner<W: Future<Output = ()> + 'static>(join: impl FnOnce(Arc<Packet>) -> W) {
    Worker::play(&Seat::new(), |worker| {
        let packet = Packet::new();
        let parasite = Parasite::new(worker, false, join(packet.clone()));
        let host = thread::spawn(move || packet.end());
        parasite.start(worker);
        parasite.detach();
        worker.run();
        host.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "the host did not wake its joiner");
    });
}

/// Waits for the outcome and takes it. With `again` it is polled once without a wake.
fn join(packet: Arc<Packet>, mut again: bool) -> impl Future<Output = ()> {
    poll_fn(move |cx| {
        if std::mem::take(&mut again) {
            cx.waker().wake_by_ref();
        }
        if !packet.completion.poll(cx) {
            return Poll::Pending;
        }
        assert_eq!(packet.take(), 7);
        Poll::Ready(())
    })
}

fn joiner_as_a_future() {
    joiner(|packet| join(packet, false));
}

#[test]
fn await_while_the_host_ends() {
    check(joiner_as_a_future);
}

#[test]
fn joiner_ends_before_its_wake() {
    check_bounded(3, || joiner(|packet| join(packet, true)));
}

#[test]
fn another_waker_while_the_host_ends() {
    check(|| {
        joiner(|packet| async {
            let _ = with_strange_context(|cx| packet.completion.poll(cx));
            join(packet, false).await;
        });
    });
}

#[test]
fn awaiting_handle_is_dropped_while_the_host_ends() {
    check_bounded(3, || {
        joiner(|packet| {
            let mut polls = 0;
            poll_fn(move |cx| {
                polls += 1;
                cx.waker().wake_by_ref();
                if polls == 1 && !packet.completion.poll(cx) {
                    return Poll::Pending;
                }
                if !packet.completion.detach() {
                    assert_eq!(packet.take(), 7);
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
