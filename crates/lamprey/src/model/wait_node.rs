//! A parasite that waits on two channels at once, and a peer of each: the parasite is alive while they notify
//! it, and each value is received once or comes back.
//!
//! Channel, futures and task are the real ones; the worker is [`worker`](crate::sched::worker) of this build.

use super::{Broken, check, check_bounded, must_fail};
use crate::channel::{Receiver, Sender, channel};
use crate::sched::worker::{Parasite, Worker, WorkerShared, wait, with_strange_context};
use crate::sync_shim::{Arc, thread};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

const SHARED: bool = true;
const OWNED: bool = false;

type Value = Box<u32>;
type Ends = (Arc<Receiver<Value>>, Arc<Receiver<Value>>);

/// Returns the result of the first future to be ready, and drops the other.
async fn either<T>(a: impl Future<Output = T>, b: impl Future<Output = T>) -> T {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| match a.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(value),
        Poll::Pending => b.as_mut().poll(cx),
    })
    .await
}

/// Receives from either channel.
async fn select(ends: Ends) -> Option<Value> {
    either(ends.0.recv_async(), ends.1.recv_async()).await.ok()
}

/// The number of values left in the channel.
fn left(end: &Receiver<Value>) -> usize {
    usize::from(end.try_recv().is_ok())
}

/// A peer that sends if the parasite waits; 1 if its value was received.
fn send(tx: Sender<Value>) -> usize {
    usize::from(tx.try_send(Box::new(1)).is_ok())
}

/// The parasite waits on both channels, and both peers come, one of them on a worker.
fn two_peers(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let (rx, rx2) = (Arc::new(rx), Arc::new(rx2));
        let ends = (rx.clone(), rx2.clone());
        let (keep, keep2) = (tx.clone(), tx2.clone());
        let parasite = Parasite::new(worker, is_shared, async {
            assert!(select(ends).await.is_some());
        });
        parasite.start(worker);
        parasite.detach();
        let peer = thread::spawn(|| {
            Worker::play(&WorkerShared::new(), |worker| {
                let sent = send(tx);
                worker.run();
                sent
            })
        });
        let peer2 = thread::spawn(|| send(tx2));
        worker.run();
        let sent = peer.join().unwrap() + peer2.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "nobody woke it");
        assert_eq!(sent, 1 + left(&rx) + left(&rx2));
        drop((keep, keep2));
    });
}

/// The handle is dropped while a peer has taken one of the nodes.
fn cancel(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let ((tx, rx), (_tx2, rx2)) = (channel(), channel());
        let (rx, rx2) = (Arc::new(rx), Arc::new(rx2));
        let ends = (rx.clone(), rx2.clone());
        let parasite = Parasite::new(worker, is_shared, async {
            select(ends).await;
        });
        parasite.start(worker);
        let peer = thread::spawn(|| send(tx));
        parasite.cancel();
        parasite.detach();
        worker.run();
        peer.join().unwrap();
        worker.run();
        assert!(parasite.is_freed());
    });
}

/// Both channels are closed while the parasite waits.
fn close(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let ends = (Arc::new(rx), Arc::new(rx2));
        let parasite = Parasite::new(worker, is_shared, async {
            assert!(select(ends).await.is_none());
        });
        parasite.start(worker);
        parasite.detach();
        let peer = thread::spawn(|| drop(tx));
        let peer2 = thread::spawn(|| drop(tx2));
        worker.run();
        peer.join().unwrap();
        peer2.join().unwrap();
        worker.run();
        assert!(parasite.is_freed());
    });
}

/// A thread that is no worker waits for a peer.
fn a_thread() {
    let (tx, rx) = channel::<Value>();
    let peer = thread::spawn(move || tx.send(Box::new(1)).is_ok());
    assert!(wait(async { rx.recv_async().await.is_ok() }));
    assert!(peer.join().unwrap());
}

/// Pending in the first poll, ready in the second whether or not `recv` is. It keeps `recv` until it is
/// dropped.
struct GivesUp<F> {
    recv: F,
    polls: u32,
}

impl<F: Future> Future for GivesUp<F> {
    type Output = Option<F::Output>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `recv` is pinned together with the whole, and not moved.
        let (mut recv, polls) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.recv), &mut this.polls)
        };
        *polls += 1;
        cx.waker().wake_by_ref();
        match recv.as_mut().poll(cx) {
            Poll::Pending if *polls == 1 => Poll::Pending,
            Poll::Pending => Poll::Ready(None),
            Poll::Ready(value) => Poll::Ready(Some(value)),
        }
    }
}

/// A thread stops waiting while the peer has its node.
fn a_thread_that_goes() {
    let (tx, rx) = channel();
    let peer = thread::spawn(|| send(tx));
    let got = wait(GivesUp { recv: rx.recv_async(), polls: 0 });
    let sent = peer.join().unwrap();
    assert!(sent == 1 || !matches!(got, Some(Ok(_))));
}

/// The future was polled with a foreign waker before, and gets the parasite's waker while a peer comes.
fn another_waker() {
    Worker::play(&WorkerShared::new(), |worker| {
        let (tx, rx) = channel();
        let parasite = Parasite::new(worker, OWNED, async move {
            let mut recv = pin!(rx.recv_async());
            if with_strange_context(|cx| recv.as_mut().poll(cx)).is_pending() {
                assert!(recv.await.is_ok());
            }
        });
        let keep = tx.clone();
        let peer = thread::spawn(|| send(tx));
        parasite.start(worker);
        parasite.detach();
        worker.run();
        if peer.join().unwrap() == 0 {
            drop(keep.try_send(Box::new(2))); // the future had not begun to wait
        }
        worker.run();
        assert!(parasite.is_freed(), "nobody woke it");
    });
}

/// The future is allocated outside of the parasite that polls it; the parasite ends while a peer comes.
fn a_future_in_a_box() {
    Worker::play(&WorkerShared::new(), |worker| {
        let (tx, rx) = channel();
        let mut recv = Box::pin(async move { rx.recv_async().await.is_ok() });
        let (leave, left) = std::sync::mpsc::channel();
        let parasite = Parasite::new(worker, OWNED, async move {
            assert!(poll_fn(|cx| Poll::Ready(recv.as_mut().poll(cx))).await.is_pending());
            leave.send(recv).unwrap();
        });
        parasite.start(worker);
        let peer = thread::spawn(|| send(tx));
        parasite.detach();
        assert_eq!(peer.join().unwrap(), 1);
        worker.run();
        assert!(parasite.is_freed());
        assert!(wait(left.recv().unwrap()));
    });
}

#[test]
fn two_nodes_and_two_peers_shared() {
    check_bounded(2, || two_peers(SHARED));
}

#[test]
fn two_nodes_and_two_peers_owned() {
    check_bounded(2, || two_peers(OWNED));
}

#[test]
fn cancel_while_a_peer_has_a_node_shared() {
    check_bounded(3, || cancel(SHARED));
}

#[test]
fn cancel_while_a_peer_has_a_node_owned() {
    check(|| cancel(OWNED));
}

#[test]
fn two_channels_are_closed_shared() {
    check_bounded(3, || close(SHARED));
}

#[test]
fn two_channels_are_closed_owned() {
    check_bounded(3, || close(OWNED));
}

#[test]
fn another_waker_while_a_peer_comes() {
    check(another_waker);
}

#[test]
fn a_future_that_outlives_its_parasite() {
    check(a_future_in_a_box);
}

#[test]
fn a_waiting_thread_is_woken() {
    check(a_thread);
}

#[test]
fn a_waiting_thread_goes_while_a_peer_has_its_node() {
    check_bounded(3, a_thread_that_goes);
}

#[test]
fn an_end_before_the_notification_is_caught() {
    must_fail(Broken::Held, || two_peers(SHARED));
    must_fail(Broken::Held, || two_peers(OWNED));
}

#[test]
fn an_end_without_order_is_caught() {
    must_fail(Broken::Store, || two_peers(SHARED));
    must_fail(Broken::Store, || two_peers(OWNED));
}

#[test]
fn a_cell_that_ends_before_its_future_is_caught() {
    must_fail(Broken::Cell, a_thread_that_goes);
}
