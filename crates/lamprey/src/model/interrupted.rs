//! A choice that is cancelled or dropped at the moment when a peer decides it: never both, never neither.
//!
//! The thread is cancelled ([`cancelled`]); the checker varies whether it notices that before or after the
//! peer has come. Time limits are in [`choice`](super::choice).

use super::choice::{Value, try_send};
use super::{Broken, cancelled, check, check_bounded, must_fail};
use crate::channel::{Receiver, channel};
use crate::event::{Event, Nack, choose, with_nack};
use crate::sched::worker::with_strange_context;
use crate::sync_shim::thread;
use std::future::IntoFuture;
use std::pin::pin;

/// The number of values in the channel: those that came back.
fn left(rx: &Receiver<Value>) -> u32 {
    u32::from(rx.try_recv().is_ok())
}

/// A receive event that stores its nack in `place`.
fn nacked<'a>(rx: &'a Receiver<Value>, place: &'a mut Option<Nack>) -> impl Event<Output = u32> + 'a {
    with_nack(|nack| {
        *place = Some(nack);
        rx.recv_evt().wrap(|got| u32::from(got.is_ok()))
    })
}

fn received() {
    let ((tx, rx), (_tx2, rx2)) = (channel(), channel::<Value>());
    let keep = tx.clone();
    let peer = thread::spawn(move || try_send(&tx, 1));
    let mut place = None;
    let chosen = choose((nacked(&rx, &mut place), rx2.recv_evt().wrap(|_| 0)));
    let got = cancelled(|| chosen.sync());
    assert_eq!(peer.join().unwrap(), got.unwrap_or(0));
    assert_eq!(left(&rx), 0);
    let is_nacked = place.unwrap().poll().is_some();
    assert_eq!(is_nacked, got.is_none());
    drop(keep);
}

fn sent() {
    let ((tx, rx), (tx2, _rx2)) = (channel::<Value>(), channel());
    let keep = rx.clone();
    let peer = thread::spawn(move || rx.try_recv().is_ok());
    let sent = cancelled(|| choose([tx.send_evt(Box::new(1)), tx2.send_evt(Box::new(2))]).sync().is_ok());
    assert_eq!(peer.join().unwrap(), sent == Some(true));
    drop(keep);
}

/// Each of two channels has a peer; exactly the peer that decides is told that it was chosen.
fn between_two() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let keep = (tx.clone(), tx2.clone());
    let peers = [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || try_send(&tx, value)));
    let got = cancelled(|| choose([rx.recv_evt(), rx2.recv_evt()]).sync().is_ok());
    assert_eq!(peers.map(|peer| peer.join().unwrap()).iter().sum::<u32>(), u32::from(got == Some(true)));
    drop(keep);
}

/// A future is dropped: the value goes back, and the branch counts as chosen.
fn dropped() {
    let ((tx, rx), (_tx2, rx2)) = (channel(), channel::<Value>());
    let keep = tx.clone();
    let peer = thread::spawn(move || try_send(&tx, 1));
    let (mut place, mut got) = (None, 0);
    {
        let chosen = choose((nacked(&rx, &mut place), rx2.recv_evt().wrap(|_| 0)));
        let mut chosen = pin!(chosen.into_future());
        if let std::task::Poll::Ready(value) = with_strange_context(|cx| chosen.as_mut().poll(cx)) {
            got = value;
        }
    }
    let sent = peer.join().unwrap();
    assert_eq!(sent, got + left(&rx));
    assert_eq!(place.unwrap().poll().is_some(), sent == 0);
    drop(keep);
}

#[test]
fn a_receive_is_cancelled_while_a_sender_comes() {
    check_bounded(4, received);
}

#[test]
fn a_send_is_cancelled_while_a_receiver_comes() {
    check(sent);
}

#[test]
fn a_choice_is_cancelled_between_two_peers() {
    check_bounded(3, between_two);
}

#[test]
fn a_future_with_a_nack_is_dropped_while_a_peer_comes() {
    check_bounded(4, dropped);
}

#[test]
fn an_unwind_after_the_decision_is_caught() {
    must_fail(Broken::ChoiceReturns, sent);
}

#[test]
fn a_winner_that_is_not_told_is_caught() {
    must_fail(Broken::ChoiceTells, dropped);
}
