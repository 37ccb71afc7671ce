//! Choices that do not wait: they find a peer that is somewhere at every moment, and what they do happens
//! once.
//!
//! As in [`choice`](super::choice) the threads are OS threads, and channel and choice the real ones.

use super::choice::{Value, try_send};
use super::{Broken, check_bounded, must_fail};
use crate::channel::{Receiver, Sender, channel};
use crate::events::{Event, choose};
use crate::sched::worker::with_strange_context;
use crate::sync_shim::{Arc, thread};
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

type Waits = Pin<Box<dyn Future<Output = bool>>>;

/// A send that is in its queue, or has ended.
fn waits(send: impl Future<Output = bool> + 'static) -> (Waits, bool) {
    let mut waits: Waits = Box::pin(send);
    let is_over = has_sent(&mut waits);
    (waits, is_over)
}

fn has_sent(waits: &mut Waits) -> bool {
    with_strange_context(|cx| waits.as_mut().poll(cx)) == Poll::Ready(true)
}

fn poll(rx: &Receiver<Value>, rx2: &Receiver<Value>) -> u32 {
    choose([rx.recv_evt(), rx2.recv_evt()]).poll().map_or(0, |got| *got.unwrap())
}

/// A sender comes to one channel before it leaves the other one.
fn one_shifts() {
    let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel());
    let keep = (tx.clone(), tx2.clone());
    let (first, _) = waits(async move { tx.send_async(Box::new(1)).await.is_ok() });
    let shifter = thread::spawn(move || {
        let (second, _) = waits(async move { tx2.send_async(Box::new(2)).await.is_ok() });
        drop(first);
        second
    });
    let got = poll(&rx, &rx2);
    drop((shifter.join().unwrap(), keep, rx, rx2));
    assert_ne!(got, 0, "there was a sender at every moment");
}

/// Two choices are in one queue, one after the other; the first one gives up after the second one has come.
fn one_gives_up() {
    let ((tx, rx), (other, keep)) = (channel::<Value>(), channel());
    let tx2 = tx.clone();
    let both = |tx: Sender<Value>, other: Sender<Value>| async move {
        choose([tx.send_evt(Box::new(1)), other.send_evt(Box::new(2))]).await.is_ok()
    };
    let (first, _) = waits(both(tx, other.clone()));
    let shifter = thread::spawn(move || {
        let (second, _) = waits(both(tx2, other));
        drop(first);
        second
    });
    let got = rx.try_recv();
    drop((shifter.join().unwrap(), keep, rx));
    assert!(got.is_ok(), "there was a sender at every moment");
}

/// One channel is closed before the sender of the other one leaves.
fn one_is_closed() {
    let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel::<Value>());
    let keep = tx.clone();
    let (first, _) = waits(async move { tx.send_async(Box::new(1)).await.is_ok() });
    let closer = thread::spawn(move || {
        drop(tx2);
        drop(first);
    });
    assert!(choose([rx.recv_evt(), rx2.recv_evt()]).poll().is_some());
    closer.join().unwrap();
    drop(keep);
}

/// Two peers that do not wait come, too: they meet the offers, or nobody.
fn with_two_that_try() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let keep = (tx.clone(), tx2.clone());
    let peers = [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || try_send(&tx, value)));
    let got = u32::from(poll(&rx, &rx2) != 0);
    assert_eq!(got, peers.map(|peer| peer.join().unwrap()).iter().sum::<u32>());
    drop(keep);
}

/// Two choices that do not wait meet each other, or both find nothing.
fn two_meet() {
    let ((a, a_rx), (b, b_rx)) = (channel::<Value>(), channel::<Value>());
    let ends = Arc::new((a, a_rx, b, b_rx));
    let theirs = ends.clone();
    let other = thread::spawn(move || {
        let (_, a_rx, b, _) = &*theirs;
        choose((a_rx.recv_evt().wrap(|got| got.is_ok()), b.send_evt(Box::new(2)).wrap(|sent| sent.is_ok())))
            .poll()
    });
    let (a, _, _, b_rx) = &*ends;
    let mine =
        choose((a.send_evt(Box::new(1)).wrap(|sent| sent.is_ok()), b_rx.recv_evt().wrap(|got| got.is_ok())))
            .poll();
    assert_eq!(mine, other.join().unwrap());
}

#[test]
fn a_sender_that_shifts_is_found() {
    check_bounded(4, one_shifts);
}

#[test]
fn a_choice_behind_one_that_gives_up_is_found() {
    check_bounded(4, one_gives_up);
}

#[test]
fn a_look_at_an_old_word_is_caught() {
    must_fail(Broken::StaleWord, one_gives_up);
}

#[test]
fn a_channel_that_is_closed_is_found() {
    check_bounded(4, one_is_closed);
}

#[test]
fn peers_that_try_meet_it_once() {
    check_bounded(2, with_two_that_try);
}

#[test]
fn two_that_do_not_wait_meet_or_not() {
    check_bounded(4, two_meet);
}

#[test]
fn a_look_at_one_after_the_other_is_caught() {
    must_fail(Broken::NowOffers, one_shifts);
}
