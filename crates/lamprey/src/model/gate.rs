//! The gate, in the bounded channel: every waiter is woken, and a unit is used once or is still there,
//! whichever thread times out, is dropped or leaves.
//!
//! Gate, futures and tasks are the real ones; the worker is [`worker`](crate::sched::worker) of this build.
//! In these models every thread blocks as an OS thread, and a deadline may pass at any moment.

use super::{Broken, check, check_bounded, must_fail};
use crate::channel::bounded::{Receiver, Sender, bounded};
use crate::channel::{RecvError, RecvTimeoutError, SendError};
use crate::sched::worker::{Parasite, Worker, WorkerShared, with_strange_context};
use crate::sync_shim::thread;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

type Value = Box<u32>;

/// The number of values left in the channel.
fn left(rx: &Receiver<Value>) -> usize {
    std::iter::from_fn(|| rx.try_recv().ok()).count()
}

/// A value that is not dropped after a failure: the lock may be held then, and the checker is gone.
pub(super) struct Quiet<T>(std::mem::ManuallyDrop<T>);

impl<T> Quiet<T> {
    pub(super) fn new(end: T) -> Self {
        Self(std::mem::ManuallyDrop::new(end))
    }
}

impl<T> std::ops::Deref for Quiet<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Quiet<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: dropped only here.
            unsafe { std::mem::ManuallyDrop::drop(&mut self.0) };
        }
    }
}

fn a_receiver_waits() {
    let (tx, rx) = bounded(1);
    let (tx, rx) = (Quiet::new(tx), Quiet::new(rx));
    let sender = thread::spawn(move || tx.try_send(Box::new(5)));
    assert_eq!(*rx.recv().unwrap(), 5);
    assert!(sender.join().unwrap().is_ok());
}

#[test]
fn a_thread_waits_for_a_value() {
    check(a_receiver_waits);
}

#[test]
fn a_thread_waits_for_a_place() {
    check_bounded(3, || {
        let (tx, rx) = bounded(1);
        let sender = thread::spawn(move || (1..=3).for_each(|value| tx.send(value).unwrap()));
        assert_eq!((rx.recv(), rx.recv(), rx.recv()), (Ok(1), Ok(2), Ok(3)));
        sender.join().unwrap();
    });
}

fn a_value_comes_in_time_or_not() {
    let (tx, rx) = bounded(1);
    let (tx, rx) = (Quiet::new(tx), Quiet::new(rx));
    let sender = thread::spawn(move || tx.try_send(Box::new(1)).is_ok());
    let got = rx.recv_timeout(SOON).is_ok();
    assert!(sender.join().unwrap());
    assert_eq!(usize::from(got) + left(&rx), 1);
}

#[test]
fn a_wait_ends_while_a_value_comes() {
    check(a_value_comes_in_time_or_not);
}

#[test]
fn a_wait_ends_while_a_place_becomes_free() {
    check(|| {
        let (tx, rx) = bounded(1);
        tx.try_send(Box::new(1)).unwrap();
        let sender = thread::spawn(move || tx.send_timeout(Box::new(2), SOON).is_ok());
        assert!(rx.try_recv().is_ok());
        let sent = sender.join().unwrap();
        assert_eq!(left(&rx), usize::from(sent));
    });
}

/// A sender waits beside a future that was granted the only value, and a receiver behind that.
#[test]
fn a_place_becomes_free_while_a_receiver_waits() {
    check_bounded(1, || {
        let (tx, rx) = bounded(1);
        let theirs = rx.clone();
        let mut first = Box::pin(async move { theirs.recv_async().await.is_ok() });
        assert!(with_strange_context(|cx| first.as_mut().poll(cx)).is_pending());
        let sender = thread::spawn(move || (0..2).for_each(|_| tx.send(Box::new(1)).unwrap()));
        let poller = thread::spawn(move || with_strange_context(|cx| first.as_mut().poll(cx)).is_ready());
        assert!(rx.recv().is_ok());
        let polled = poller.join().unwrap();
        sender.join().unwrap();
        assert_eq!(usize::from(polled) + left(&rx), 1);
    });
}

/// With three threads that spin for the lock, the checker does not terminate above one preemption; the models
/// of pairs explore more.
#[test]
fn one_of_two_that_wait_goes() {
    check_bounded(1, || {
        let (tx, rx) = bounded(1);
        let theirs = rx.clone();
        let leaver = thread::spawn(move || theirs.recv_timeout(SOON).is_ok());
        let sender = thread::spawn(move || tx.try_send(Box::new(1)).is_ok());
        let got = [rx.recv().is_ok(), leaver.join().unwrap()];
        assert!(sender.join().unwrap());
        assert_eq!(got.iter().filter(|&&got| got).count(), 1);
    });
}

/// A weak sender becomes one before the last sender goes, and its value arrives; or it does not, and the channel is closed.
#[test]
fn a_weak_sender_becomes_one_while_the_last_goes() {
    check_bounded(3, || {
        let (tx, rx) = bounded(1);
        let weak = tx.downgrade();
        let upgrades = thread::spawn(move || weak.upgrade().map(|tx| tx.try_send(Box::new(5))));
        drop(tx);
        let received = rx.recv();
        match upgrades.join().unwrap() {
            Some(sent) => assert!(sent.is_ok() && *received.unwrap() == 5),
            None => assert!(received.is_err()),
        }
    });
}

#[test]
fn the_other_side_goes() {
    check(|| {
        let (tx, rx) = bounded::<Value>(1);
        let sender = thread::spawn(move || drop(tx));
        assert_eq!(rx.recv(), Err(RecvError));
        sender.join().unwrap();
    });
    check(|| {
        let (tx, rx) = bounded(1);
        tx.try_send(1).unwrap();
        let receiver = thread::spawn(move || drop(rx));
        assert_eq!(tx.send(2), Err(SendError(2)));
        receiver.join().unwrap();
    });
    check(|| {
        let (tx, rx) = bounded::<Value>(1);
        let sender = thread::spawn(move || drop(tx));
        let got = rx.recv_timeout(SOON);
        assert!(matches!(got, Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)));
        sender.join().unwrap();
    });
}

/// A parasite waits and a peer sends; both may be on a worker.
fn a_parasite(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let (tx, rx) = bounded(1);
        let parasite = Parasite::new(worker, is_shared, async move {
            assert!(rx.recv_async().await.is_ok());
        });
        let keep = tx.clone();
        let peer = thread::spawn(move || {
            Worker::play(&WorkerShared::new(), |worker| {
                assert!(tx.try_send(Box::new(1)).is_ok());
                worker.run();
            });
        });
        parasite.start(worker);
        parasite.detach();
        worker.run();
        peer.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "nobody woke it");
        drop(keep);
    });
}

#[test]
fn a_parasite_waits() {
    check(|| a_parasite(false));
    check_bounded(3, || a_parasite(true));
}

/// The parasite is cancelled while the value comes: the value is then still in the channel.
fn a_cancelled_parasite(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let (tx, rx) = bounded(1);
        let ours = rx.clone();
        let parasite = Parasite::new(worker, is_shared, async move {
            std::mem::forget(rx.recv_async().await);
        });
        parasite.start(worker);
        let peer = thread::spawn(move || send_one(&tx));
        parasite.cancel();
        parasite.detach();
        worker.run();
        peer.join().unwrap();
        worker.run();
        assert!(parasite.is_freed());
        assert!(left(&ours) <= 1);
    });
}

fn send_one(tx: &Sender<Value>) {
    assert!(tx.try_send(Box::new(1)).is_ok());
}

#[test]
fn a_parasite_is_cancelled_while_a_peer_has_its_node() {
    check(|| a_cancelled_parasite(false));
    check_bounded(3, || a_cancelled_parasite(true));
}

/// A future that was granted the value is dropped; a thread waits behind it.
fn granted_and_dropped() {
    let (tx, rx) = bounded(1);
    let theirs = rx.clone();
    let mut first = Box::pin(async move { theirs.recv_async().await.is_ok() });
    assert!(with_strange_context(|cx| first.as_mut().poll(cx)).is_pending());
    let peer = thread::spawn(move || send_one(&tx));
    let leaver = thread::spawn(move || drop(first));
    // The peer drops its end too, so a value reserved for the dropped future would be lost.
    assert!(rx.recv().is_ok());
    peer.join().unwrap();
    leaver.join().unwrap();
}

#[test]
fn a_grant_of_a_future_that_goes_is_the_next_ones() {
    check_bounded(1, granted_and_dropped);
}

/// As `granted_and_dropped`, while a sender stays.
fn granted_and_dropped_open() {
    let (tx, rx) = bounded(1);
    let keep = tx.clone();
    let theirs = rx.clone();
    let mut first = Box::pin(async move { theirs.recv_async().await.is_ok() });
    assert!(with_strange_context(|cx| first.as_mut().poll(cx)).is_pending());
    let leaver = thread::spawn(move || {
        send_one(&tx);
        drop(first);
    });
    assert!(rx.recv().is_ok());
    leaver.join().unwrap();
    drop(keep);
}

#[test]
fn a_grant_of_a_future_that_goes_is_the_next_ones_while_senders_stay() {
    check_bounded(3, granted_and_dropped_open);
}

#[test]
fn another_waker_while_a_value_comes() {
    check(|| {
        Worker::play(&WorkerShared::new(), |worker| {
            let (tx, rx) = bounded(1);
            let parasite = Parasite::new(worker, false, async move {
                let mut recv = pin!(rx.recv_async());
                if with_strange_context(|cx| recv.as_mut().poll(cx)).is_pending() {
                    assert!(recv.await.is_ok());
                }
            });
            let peer = thread::spawn(move || send_one(&tx));
            parasite.start(worker);
            parasite.detach();
            worker.run();
            peer.join().unwrap();
            worker.run();
            assert!(parasite.is_freed(), "nobody woke it");
        });
    });
}

#[test]
fn a_lock_without_order_is_caught() {
    must_fail(Broken::GateUnlock, a_receiver_waits);
}

#[test]
fn a_grant_that_is_kept_is_caught() {
    must_fail(Broken::GateDecline, granted_and_dropped_open);
}

#[test]
fn a_wait_without_a_second_look_is_caught() {
    must_fail(Broken::GateRetry, || a_parasite(false));
}

#[test]
fn a_value_in_a_slot_that_is_not_looked_at_is_caught() {
    must_fail(Broken::GateDone, a_value_comes_in_time_or_not);
}

#[test]
fn a_late_notification_is_caught() {
    must_fail(Broken::GateNotify, || a_cancelled_parasite(false));
}
