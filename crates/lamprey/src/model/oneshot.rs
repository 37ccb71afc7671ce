//! The oneshot: the value is received or comes back, once, and the second end to be dropped frees the
//! channel's cell.

use super::{Broken, check, check_bounded, must_fail};
use crate::channel::oneshot::oneshot;
use crate::sched::worker::{Parasite, Worker, WorkerShared, with_strange_context};
use crate::sync_shim::thread;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

fn a_thread_receives() {
    let (tx, rx) = oneshot();
    let sender = thread::spawn(move || assert!(tx.send(Box::new(5)).is_ok()));
    assert_eq!(rx.recv().map(|value| *value), Ok(5));
    sender.join().unwrap();
}

#[test]
fn a_thread_waits() {
    check(a_thread_receives);
}

#[test]
fn a_wait_ends_while_the_value_comes() {
    check(|| {
        let (tx, mut rx) = oneshot();
        let sender = thread::spawn(move || tx.send(Box::new(5)).is_ok());
        let got = rx.recv_timeout(Duration::from_millis(1)).is_ok();
        let late = rx.try_recv().is_ok();
        drop(rx);
        assert!(!(got && late));
        assert!(sender.join().unwrap() || !(got || late));
    });
}

#[test]
fn the_sender_goes() {
    check(|| {
        let (tx, rx) = oneshot::<Box<u32>>();
        let sender = thread::spawn(move || drop(tx));
        assert!(rx.recv().is_err());
        sender.join().unwrap();
    });
}

#[test]
fn the_receiver_goes() {
    check(|| {
        let value = std::sync::Arc::new(());
        let (tx, rx) = oneshot();
        let theirs = value.clone();
        let sender = thread::spawn(move || drop(tx.send(theirs)));
        drop(rx);
        sender.join().unwrap();
        assert_eq!(std::sync::Arc::strong_count(&value), 1, "the value was lost");
    });
    check(|| {
        let (tx, rx) = oneshot::<u32>();
        let sender = thread::spawn(move || drop(tx));
        drop(rx);
        sender.join().unwrap();
    });
}

#[test]
fn a_parasite_waits() {
    check(|| {
        Worker::play(&WorkerShared::new(), |worker| {
            let (tx, rx) = oneshot();
            let parasite = Parasite::new(worker, false, async move {
                assert!(rx.await.is_ok());
            });
            let sender = thread::spawn(move || assert!(tx.send(Box::new(1)).is_ok()));
            parasite.start(worker);
            parasite.detach();
            worker.run();
            sender.join().unwrap();
            worker.run();
            assert!(parasite.is_freed(), "nobody woke it");
        });
    });
}

#[test]
fn a_parasite_is_cancelled_while_the_value_comes() {
    check_bounded(3, || {
        Worker::play(&WorkerShared::new(), |worker| {
            let (tx, rx) = oneshot();
            let parasite = Parasite::new(worker, false, async move {
                drop(rx.await);
            });
            parasite.start(worker);
            let sender = thread::spawn(move || drop(tx.send(Box::new(1))));
            parasite.cancel();
            parasite.detach();
            worker.run();
            sender.join().unwrap();
            worker.run();
            assert!(parasite.is_freed());
        });
    });
}

#[test]
fn another_waker_while_the_value_comes() {
    check_bounded(3, || {
        let (tx, mut rx) = oneshot();
        let sender = thread::spawn(move || assert!(tx.send(Box::new(1)).is_ok()));
        let mut polls = 0;
        while with_strange_context(|cx| Pin::new(&mut rx).poll(cx)).is_pending() {
            polls += 1;
            if polls == 2 {
                assert!(rx.recv().is_ok());
                break;
            }
        }
        sender.join().unwrap();
    });
}

/// The sender watches, and the receiver is dropped. The sender waits for that, or sends, or is dropped too.
fn a_watch(then: fn(crate::channel::oneshot::Sender<Box<u32>>)) {
    Worker::play(&WorkerShared::new(), |worker| {
        let (mut tx, rx) = oneshot::<Box<u32>>();
        let parasite = Parasite::new(worker, false, async move {
            {
                let mut closed = pin!(tx.closed_async());
                let is_pending =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(closed.as_mut().poll(cx).is_pending()));
                is_pending.await;
            }
            then(tx);
        });
        let receiver = thread::spawn(move || drop(rx));
        parasite.start(worker);
        parasite.detach();
        worker.run();
        receiver.join().unwrap();
        worker.run();
        assert!(parasite.is_freed());
    });
}

#[test]
fn a_sender_that_watches_sends_or_goes() {
    check_bounded(3, || a_watch(|tx| drop(tx.send(Box::new(1)))));
    check_bounded(3, || a_watch(drop));
}

#[test]
fn a_sender_waits_for_the_end() {
    check(|| {
        Worker::play(&WorkerShared::new(), |worker| {
            let (mut tx, rx) = oneshot::<u32>();
            let parasite = Parasite::new(worker, false, async move {
                tx.closed_async().await;
                assert!(tx.is_closed());
            });
            let receiver = thread::spawn(move || drop(rx));
            parasite.start(worker);
            parasite.detach();
            worker.run();
            receiver.join().unwrap();
            worker.run();
            assert!(parasite.is_freed(), "nobody woke it");
        });
    });
}

#[test]
fn a_sender_that_watches_sends_while_the_receiver_waits() {
    check_bounded(3, || {
        let (mut tx, rx) = oneshot();
        let sender = thread::spawn(move || {
            let _ = with_strange_context(|cx| pin!(tx.closed_async()).poll(cx));
            assert!(tx.send(Box::new(1)).is_ok());
        });
        assert!(rx.recv().is_ok());
        sender.join().unwrap();
    });
}

#[test]
fn without_order_it_is_caught() {
    must_fail(Broken::Exchange, a_thread_receives);
}

#[test]
fn an_end_before_the_watcher_was_taken_is_caught() {
    must_fail(Broken::OneshotGoing, || a_watch(drop));
}
