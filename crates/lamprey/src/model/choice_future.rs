//! Choices of futures: dropped, polled again with another waker, or in a parasite, while peers come for their
//! offers.
//!
//! Set up as in [`choice`](super::choice); the worker is [`worker`](crate::sched::worker) of this build.

use super::choice::{Value, try_send};
use super::{Broken, check, check_bounded, must_fail};
use crate::channel::{Receiver, channel};
use crate::events::choose;
use crate::sched::worker::{Parasite, Worker, WorkerShared, wait, with_strange_context};
use crate::sync_shim::{Arc, AtomicUsize, Ordering, thread};
use std::future::IntoFuture;
use std::pin::pin;
use std::task::Poll;

/// The number of values in the channel: those that came back.
fn left(rx: &Receiver<Value>) -> u32 {
    u32::from(rx.try_recv().is_ok())
}

/// A future is dropped, or looks again, while a peer has one of its offers.
fn future_goes(looks_again: bool) {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let keep = tx.clone();
    let peer = thread::spawn(move || try_send(&tx, 1));
    let mut got = 0;
    {
        let mut chosen = pin!(choose([rx.recv_evt(), rx2.recv_evt()]).into_future());
        for _ in 0..=u32::from(looks_again) {
            match with_strange_context(|cx| chosen.as_mut().poll(cx)) {
                Poll::Pending => continue,
                Poll::Ready(value) => got = u32::from(value.is_ok()),
            }
            break;
        }
    }
    assert_eq!(peer.join().unwrap(), got + left(&rx));
    drop((keep, tx2));
}

/// As `future_goes`, with two peers, and a receiver that waits for a value that comes back.
fn future_goes_between_two() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let keep = (tx.clone(), tx2.clone());
    let peers = [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || try_send(&tx, value)));
    {
        let mut chosen = pin!(choose([rx.recv_evt(), rx2.recv_evt()]).into_future());
        if with_strange_context(|cx| chosen.as_mut().poll(cx)).is_ready() {
            return peers.into_iter().for_each(|peer| drop(peer.join()));
        }
    }
    let sent: u32 = peers.map(|peer| peer.join().unwrap()).iter().sum();
    assert_eq!(sent, left(&rx) + left(&rx2));
    drop(keep);
}

/// The future of a choice gets its parasite's waker while a peer comes.
fn another_waker() {
    Worker::play(&WorkerShared::new(), |worker| {
        let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel());
        let parasite = Parasite::new(worker, false, async move {
            let mut chosen = pin!(choose([rx.recv_evt(), rx2.recv_evt()]).into_future());
            if with_strange_context(|cx| chosen.as_mut().poll(cx)).is_pending() {
                assert!(chosen.await.is_ok());
            }
        });
        let (keep, keep2) = (tx.clone(), tx2);
        let peer = thread::spawn(move || try_send(&tx, 1));
        parasite.start(worker);
        parasite.detach();
        worker.run();
        if peer.join().unwrap() == 0 {
            try_send(&keep, 2); // the choice had not begun to wait
        }
        worker.run();
        assert!(parasite.is_freed(), "nobody woke it");
        drop(keep2);
    });
}

/// A parasite waits on both; both peers come, one of them on a worker.
fn parasite(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let (rx, rx2) = (Arc::new(rx), Arc::new(rx2));
        let (mine, mine2) = (rx.clone(), rx2.clone());
        let keep = (tx.clone(), tx2.clone());
        let parasite = Parasite::new(worker, is_shared, async move {
            assert!(choose([mine.recv_evt(), mine2.recv_evt()]).await.is_ok());
        });
        parasite.start(worker);
        parasite.detach();
        let peer = thread::spawn(|| {
            Worker::play(&WorkerShared::new(), |worker| {
                let sent = try_send(&tx, 1);
                worker.run();
                drop(tx);
                sent
            })
        });
        let peer2 = thread::spawn(move || try_send(&tx2, 2));
        worker.run();
        let sent = peer.join().unwrap() + peer2.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "nobody woke it");
        assert_eq!(sent, 1, "its offer is still there");
        drop(keep);
    });
}

/// The parasite is cancelled while a peer has one of its offers.
fn parasite_is_cancelled(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let ((tx, rx), (_tx2, rx2)) = (channel(), channel());
        let (rx, rx2) = (Arc::new(rx), Arc::new(rx2));
        let (mine, mine2) = (rx.clone(), rx2.clone());
        let keep = tx.clone();
        let did_get = Arc::new(AtomicUsize::new(0));
        let tell = did_get.clone();
        let parasite = Parasite::new(worker, is_shared, async move {
            drop(choose([mine.recv_evt(), mine2.recv_evt()]).await.unwrap());
            // Relaxed: read after the parasite's end.
            tell.store(1, Ordering::Relaxed);
        });
        parasite.start(worker);
        let peer = thread::spawn(move || try_send(&tx, 1));
        parasite.cancel();
        parasite.detach();
        worker.run();
        let sent = peer.join().unwrap();
        worker.run();
        assert!(parasite.is_freed());
        // Relaxed: the parasite has ended.
        assert_eq!(sent as usize, did_get.load(Ordering::Relaxed) + left(&rx) as usize);
        drop(keep);
    });
}

/// A thread that is no worker waits for the future of a choice.
fn a_thread_waits_for_a_future() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel::<Value>());
    let peer = thread::spawn(move || tx.send(Box::new(1)).is_ok());
    assert!(wait(async { choose([rx.recv_evt(), rx2.recv_evt()]).await.is_ok() }));
    assert!(peer.join().unwrap());
    drop(tx2);
}

#[test]
fn a_future_is_dropped_while_a_peer_has_its_offer() {
    check(|| future_goes(false));
}

#[test]
fn a_future_looks_again_while_a_peer_has_its_offer() {
    check(|| future_goes(true));
}

#[test]
fn a_future_is_dropped_between_two_peers() {
    check_bounded(3, future_goes_between_two);
}

#[test]
fn another_waker_while_a_peer_has_an_offer() {
    check_bounded(4, another_waker);
}

#[test]
fn a_parasite_chooses_shared() {
    check_bounded(2, || parasite(true));
}

#[test]
fn a_parasite_chooses_owned() {
    check_bounded(2, || parasite(false));
}

#[test]
fn a_choosing_parasite_is_cancelled_shared() {
    check_bounded(3, || parasite_is_cancelled(true));
}

#[test]
fn a_choosing_parasite_is_cancelled_owned() {
    check_bounded(3, || parasite_is_cancelled(false));
}

#[test]
fn a_thread_that_waits_for_a_choice_is_woken() {
    check_bounded(3, a_thread_waits_for_a_future);
}

#[test]
fn relaxed_claims_are_caught() {
    must_fail(Broken::ChoiceOrder, another_waker);
}

#[test]
fn a_waiter_that_is_read_too_late_is_caught() {
    must_fail(Broken::EarlyWaiter, || future_goes(true));
}
