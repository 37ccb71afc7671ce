//! Channels with one receiver of each value: nothing is lost, nothing arrives twice, each sender's values keep their order.

use crate::found::{finds, holds};
use lamprey::sync::Mutex;
use lamprey::{
    JoinHandle, RecvTimeoutError, TryRecvError, bounded, channel, mailbox, oneshot, spawn, with_timeout,
};
use std::sync::Arc;
use std::time::Duration;

const SENDERS: u32 = 3;
const EACH: u32 = 4;

/// Values of several senders, and all that was received of them.
fn check(received: &[Vec<u32>], all: bool) {
    let mut flat: Vec<u32> = received.concat();
    for one in received {
        for sender in 0..SENDERS {
            let own: Vec<_> = one.iter().filter(|value| **value / 100 == sender).collect();
            assert!(own.is_sorted(), "a sender's values have changed their order: {one:?}");
        }
    }
    flat.sort_unstable();
    let before = flat.len();
    flat.dedup();
    assert_eq!(flat.len(), before, "a value has arrived twice");
    if all {
        assert_eq!(flat.len(), (SENDERS * EACH) as usize, "a value is lost: {flat:?}");
    }
}

fn senders(send: impl Fn(u32) + Clone + Send + 'static) -> Vec<JoinHandle<()>> {
    let one = |sender| {
        let send = send.clone();
        spawn(move || (0..EACH).for_each(|number| send(sender * 100 + number)))
    };
    (0..SENDERS).map(one).collect()
}

fn join<T>(hosts: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    hosts.into_iter().map(|host| host.join().unwrap()).collect()
}

#[test]
fn rendezvous() {
    holds(|| {
        let (tx, rx) = channel();
        let senders = senders(move |value| tx.send(value).unwrap());
        let receivers = [(), ()].map(|()| {
            let rx = rx.clone();
            spawn(move || rx.iter().collect())
        });
        drop(rx);
        check(&join(receivers), true);
        join(senders);
    });
}

#[test]
fn rendezvous_with_time_limits() {
    holds(|| {
        let (tx, rx) = channel();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let theirs = sent.clone();
        let senders = senders(move |value| match tx.send_timeout(value, Duration::from_micros(5)) {
            Ok(()) => theirs.lock().unwrap().push(value),
            Err(error) => assert_eq!(error.into_inner(), value),
        });
        let mut received = Vec::new();
        loop {
            match rx.recv_timeout(Duration::from_micros(4)) {
                Ok(value) => received.push(value),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(_) => {}
            }
        }
        join(senders);
        check(&[received.clone()], false);
        let mut sent = sent.lock().unwrap().clone();
        sent.sort_unstable();
        received.sort_unstable();
        assert_eq!(sent, received, "what was sent, and what arrived");
    });
}

#[test]
fn bounded_channel() {
    holds(|| {
        let (tx, rx) = bounded(2);
        let senders = senders(move |value| tx.send(value).unwrap());
        let receivers = [(), ()].map(|()| {
            let rx = rx.clone();
            spawn(move || rx.iter().inspect(|_| assert!(rx.len() <= 2)).collect())
        });
        check(&join(receivers), true);
        join(senders);
    });
}

#[test]
fn bounded_channel_keeps_what_a_cancelled_receiver_did_not_take() {
    holds(|| {
        let (tx, rx) = bounded(1);
        let senders = senders(move |value| tx.send(value).unwrap());
        let mut received = Vec::new();
        while received.len() < (SENDERS * EACH) as usize {
            if let Ok(value) = with_timeout(Duration::from_micros(3), || rx.recv()) {
                received.push(value.unwrap());
            }
        }
        check(&[received], true);
        join(senders);
    });
}

#[test]
fn mailboxes() {
    holds(|| {
        let (tx, mut rx) = mailbox();
        let senders = senders(move |value| tx.send(value).unwrap());
        check(&[rx.iter().collect()], true);
        assert!(rx.recv().is_err());
        join(senders);
    });
}

#[test]
fn oneshots() {
    holds(|| {
        let (tx, rx) = oneshot();
        let sender = spawn(move || tx.send(7).is_ok());
        let got = rx.recv_timeout_or_gone();
        assert_eq!(sender.join().unwrap(), got.is_some(), "the sender knows whether its value has arrived");
        assert!(got.is_none_or(|value| value == 7));
    });
}

trait OrGone {
    fn recv_timeout_or_gone(self) -> Option<u32>;
}

impl OrGone for lamprey::oneshot::Receiver<u32> {
    /// Receives for a short time, then is dropped.
    fn recv_timeout_or_gone(mut self) -> Option<u32> {
        self.recv_timeout(Duration::from_micros(2)).ok()
    }
}

#[test]
fn disconnect_wakes_all_who_wait() {
    holds(|| {
        let (tx, rx) = channel::<u32>();
        let (full, emptied) = bounded(1);
        full.send(0).unwrap();
        let waiting = [(); 2].map(|()| {
            let (rx, full) = (rx.clone(), full.clone());
            spawn(move || assert!(rx.recv().is_err() && full.send(1).is_err()))
        });
        let last = spawn(move || drop((tx, emptied)));
        join(waiting.into_iter().chain([last]));
    });
}

#[test]
fn a_receiver_that_looks_and_leaves_is_found() {
    finds("a value is lost", || {
        let (tx, rx) = bounded(100);
        let senders = senders(move |value| tx.send(value).unwrap());
        // It takes "nothing there now" for the end.
        let mut received = Vec::new();
        lamprey::yield_now();
        while let Ok(value) = rx.try_recv() {
            received.push(value);
        }
        join(senders);
        check(&[received], true);
    });
}

#[test]
fn two_who_share_an_order_by_mistake_are_found() {
    finds("another order", || {
        let (tx, rx) = channel();
        let hosts = [0, 1].map(|number| {
            let tx = tx.clone();
            spawn(move || tx.send(number).unwrap())
        });
        assert!(matches!(rx.try_recv(), Ok(_) | Err(TryRecvError::Empty)));
        drop(tx);
        let received: Vec<_> = rx.iter().collect();
        join(hosts);
        assert!(received.is_sorted(), "another order");
    });
}
