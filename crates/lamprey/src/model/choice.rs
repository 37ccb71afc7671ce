//! Choices of threads: whichever thread meets, times out or leaves, each value is received once or comes
//! back, and no two threads that could meet both wait. Choices of futures:
//! [`choice_future`](super::choice_future).
//!
//! Threads block as OS threads, and a deadline may pass at any moment. Channel and choice are the real ones;
//! the drop of a choice checks that all other threads are done with it.

use super::{Broken, check, check_bounded, must_fail};
use crate::channel::{Receiver, Sender, channel};
use crate::events::{Event, choose};
use crate::sched::worker::with_strange_context;
use crate::sync_shim::thread;
use std::future::IntoFuture;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::time::Duration;

/// A deadline that passes as soon as it is checked; the checker varies when that is.
const SOON: Duration = Duration::ZERO;

pub(super) type Value = Box<u32>;
type Tx = Sender<Value>;
type Rx = Receiver<Value>;

/// The result of a choice of a send and a receive.
#[derive(Debug, PartialEq)]
enum Did {
    Sent,
    Got(u32),
    /// The other side of the chosen channel was gone.
    Failed,
}

/// A choice of a send and a receive.
fn either<'a>(tx: &'a Tx, value: u32, rx: &'a Rx) -> impl Event<Output = Did> + 'a {
    choose((
        tx.send_evt(Box::new(value)).wrap(|sent| if sent.is_ok() { Did::Sent } else { Did::Failed }),
        received(rx),
    ))
}

/// The same choice in the other order.
fn either_from_behind<'a>(tx: &'a Tx, value: u32, rx: &'a Rx) -> impl Event<Output = Did> + 'a {
    choose((
        received(rx),
        tx.send_evt(Box::new(value)).wrap(|sent| if sent.is_ok() { Did::Sent } else { Did::Failed }),
    ))
}

fn received(rx: &Rx) -> impl Event<Output = Did> + '_ {
    rx.recv_evt().wrap(|got| got.map_or(Did::Failed, |value| Did::Got(*value)))
}

/// Returns 1 if it met a receiver.
pub(super) fn try_send(tx: &Tx, value: u32) -> u32 {
    u32::from(tx.try_send(Box::new(value)).is_ok())
}

fn receive_from_two_senders() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let sender = thread::spawn(move || tx.send(Box::new(1)).is_ok());
    let other = thread::spawn(move || tx2.send(Box::new(2)).is_ok());
    let first = *choose([rx.recv_evt(), rx2.recv_evt()]).sync().unwrap();
    let second = *if first == 1 { rx2.recv() } else { rx.recv() }.unwrap();
    assert_eq!(first + second, 3);
    assert!(sender.join().unwrap() && other.join().unwrap());
}

fn send_to_a_receiver() {
    let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel());
    let receiver = thread::spawn(move || *rx.recv().unwrap());
    assert!(choose([tx.send_evt(Box::new(1)), tx2.send_evt(Box::new(2))]).sync().is_ok());
    assert_eq!(receiver.join().unwrap(), 1);
    assert!(rx2.try_recv().is_err());
}

/// A: send `a` or receive `b`. B: receive `a` or send `b`. They meet in one of the two.
fn crossing(same_order: bool) {
    let ((a, a_rx), (b, b_rx)) = (channel(), channel());
    let other = thread::spawn(move || {
        if same_order { either(&b, 2, &a_rx).sync() } else { either_from_behind(&b, 2, &a_rx).sync() }
    });
    let pair = (either(&a, 1, &b_rx).sync(), other.join().unwrap());
    assert!(matches!(pair, (Did::Sent, Did::Got(1)) | (Did::Got(2), Did::Sent)), "{pair:?}");
}

fn crossing_with_time_outs() {
    let ((a, a_rx), (b, b_rx)) = (channel(), channel());
    let other = thread::spawn(move || either_from_behind(&b, 2, &a_rx).sync_timeout(SOON));
    let mine = either(&a, 1, &b_rx).sync_timeout(SOON);
    let pair = (mine, other.join().unwrap());
    let met = matches!(pair, (Some(Did::Sent), Some(Did::Got(1))) | (Some(Did::Got(2)), Some(Did::Sent)));
    // The second thread may find that the first has failed and closed its ends, and then fails with that.
    let missed = matches!(pair, (None | Some(Did::Failed), None | Some(Did::Failed)));
    assert!(met || missed, "{pair:?}");
}

/// One choice offers both sides of one channel; another thread comes for one of them.
fn itself(sends: bool) {
    let (tx, rx) = channel();
    let (tx2, rx2) = (tx.clone(), rx.clone());
    let peer =
        thread::spawn(
            move || if sends { tx2.send(Box::new(2)).map(|()| 0) } else { Ok(*rx2.recv().unwrap()) },
        );
    let did = either(&tx, 1, &rx).sync();
    let got = peer.join().unwrap().unwrap();
    assert_eq!((did, got), if sends { (Did::Got(2), 0) } else { (Did::Sent, 1) });
}

/// Two choices of both sides of one channel meet each other.
fn itself_twice() {
    let (tx, rx) = channel();
    let (tx2, rx2) = (tx.clone(), rx.clone());
    let peer = thread::spawn(move || either(&tx2, 2, &rx2).sync());
    let pair = (either(&tx, 1, &rx).sync(), peer.join().unwrap());
    assert!(matches!(pair, (Did::Sent, Did::Got(1)) | (Did::Got(2), Did::Sent)), "{pair:?}");
}

/// One choice offers both sides of one channel twice, so that its later offers do not search; another thread comes.
fn itself_again() {
    let (tx, rx) = channel();
    let tx2 = tx.clone();
    let peer = thread::spawn(move || tx2.send(Box::new(3)));
    let did = choose((either(&tx, 1, &rx), either_from_behind(&tx, 2, &rx))).sync();
    peer.join().unwrap().unwrap();
    assert_eq!(did, Did::Got(3));
}

/// The same as futures, which are polled once each: one of them finds the other.
fn futures_of_both_sides() {
    let (tx, rx) = channel::<Value>();
    let both = |value| {
        let send = tx.clone().into_send_evt(Box::new(value)).wrap(drop);
        Box::pin(choose((send, rx.clone().into_recv_evt().wrap(drop))).into_future())
    };
    let (mut ours, mut theirs) = (both(1), both(2));
    let peer = thread::spawn(move || {
        let has_met = with_strange_context(|cx| theirs.as_mut().poll(cx)).is_ready();
        (theirs, has_met)
    });
    let has_met = with_strange_context(|cx| ours.as_mut().poll(cx)).is_ready();
    let (theirs, they_have_met) = peer.join().unwrap();
    assert!(has_met || they_have_met, "neither has met the other");
    drop((ours, theirs));
}

/// A peer that does not wait comes to a choice that times out.
fn times_out() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let (keep, keep2) = (tx.clone(), tx2.clone());
    let peer = thread::spawn(move || try_send(&tx, 1) + try_send(&tx2, 2));
    let mut got = 0;
    for _ in 0..2 {
        got += u32::from(choose([rx.recv_evt(), rx2.recv_evt()]).sync_timeout(SOON).is_some());
    }
    assert_eq!(got, peer.join().unwrap());
    drop((keep, keep2));
}

/// Two peers come, each for one of the offers, while the choice times out.
fn times_out_between_two() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let (keep, keep2) = (tx.clone(), tx2.clone());
    let peers = [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || try_send(&tx, value)));
    let got = u32::from(choose([rx.recv_evt(), rx2.recv_evt()]).sync_timeout(SOON).is_some());
    assert_eq!(got, peers.map(|peer| peer.join().unwrap()).iter().sum::<u32>());
    drop((keep, keep2));
}

/// A peer waits on one channel, leaves, and comes to the other.
fn meets_one_who_waits() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let keep = (tx.clone(), tx2.clone());
    let peer = thread::spawn(move || {
        let mut waiting = pin!(tx2.send_async(Box::new(2)));
        let begun = with_strange_context(|cx| waiting.as_mut().poll(cx)).is_ready();
        let sent = try_send(&tx, 1) == 1;
        (sent, begun || with_strange_context(|cx| waiting.as_mut().poll(cx)).is_ready())
    });
    let got = choose([rx.recv_evt(), rx2.recv_evt()]).sync_timeout(SOON).map(Result::unwrap);
    // The second value may be taken while it is dropped.
    match peer.join().unwrap() {
        (true, false) => assert_eq!(got.as_deref(), Some(&1)),
        (false, true) => assert_eq!(got.as_deref(), Some(&2)),
        (false, false) => assert_ne!(got.as_deref(), Some(&1)),
        (true, true) => panic!("it has received two"),
    }
    drop(keep);
}

/// A choice looks for a peer in a channel where an ended choice is leaving; then a sender comes to its other
/// channel.
fn a_peer_is_on_its_way_out() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    // Not dropped in the broken variant, where the nodes of a thread that was given up are still queued.
    let keep = ManuallyDrop::new((tx.clone(), tx2.clone()));
    let peer = thread::spawn(move || {
        {
            let mut gives_up =
                pin!(choose([tx2.send_evt(Box::new(2)), tx2.send_evt(Box::new(2))]).into_future());
            if with_strange_context(|cx| gives_up.as_mut().poll(cx)).is_ready() {
                return;
            }
        }
        drop(tx.send(Box::new(1)));
    });
    assert!(choose([rx.recv_evt(), rx2.recv_evt()]).sync().is_ok());
    drop((rx, rx2)); // what it sends now fails
    peer.join().unwrap();
    drop(ManuallyDrop::into_inner(keep));
}

/// One channel is closed while a value comes on another.
fn disconnects() {
    let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel());
    let keep = tx2.clone();
    let closer = thread::spawn(move || drop(tx));
    let sender = thread::spawn(move || try_send(&tx2, 2));
    let got = choose([rx.recv_evt(), rx2.recv_evt()]).sync();
    closer.join().unwrap();
    assert_eq!(u32::from(got.is_ok()), sender.join().unwrap());
    drop(keep);
}

/// Both channels of a choice are closed while another choice crosses it, which may have claimed it.
fn disconnects_while_claimed() {
    let ((a, a_rx), (b, b_rx), (c, c_rx)) = (channel(), channel(), channel::<Value>());
    let other = thread::spawn(move || either_from_behind(&b, 2, &a_rx).sync());
    let closer = thread::spawn(move || drop(c));
    let mine = choose((
        a.send_evt(Box::new(1)).wrap(|sent| if sent.is_ok() { Did::Sent } else { Did::Failed }),
        received(&b_rx),
        c_rx.recv_evt().wrap(|_| Did::Failed),
    ))
    .sync();
    drop((a, b_rx)); // ends the other choice, if it has not met
    let pair = (mine, other.join().unwrap());
    let met = matches!(pair, (Did::Sent, Did::Got(1)) | (Did::Got(2), Did::Sent));
    assert!(met || pair == (Did::Failed, Did::Failed), "{pair:?}");
    closer.join().unwrap();
}

/// Three choices in a ring: each may meet either neighbour, and one stays alone.
fn ring() {
    let ((ab, from_ab), (bc, from_bc), (ca, from_ca)) = (channel(), channel(), channel());
    let keep = [(ab.clone(), from_ab.clone()), (bc.clone(), from_bc.clone()), (ca.clone(), from_ca.clone())];
    let b = thread::spawn(move || either(&bc, 2, &from_ab).sync_timeout(SOON));
    let c = thread::spawn(move || either(&ca, 3, &from_bc).sync_timeout(SOON));
    let a = either(&ab, 1, &from_ca).sync_timeout(SOON);
    let all = [a, b.join().unwrap(), c.join().unwrap()];
    let sent = all.iter().filter(|did| **did == Some(Did::Sent)).count();
    let got = all.iter().filter(|did| matches!(did, Some(Did::Got(_)))).count();
    assert!(sent == got && got <= 1, "{all:?}");
    drop(keep);
}

#[test]
fn a_choice_meets_two_senders() {
    check_bounded(2, receive_from_two_senders);
}

#[test]
fn a_choice_of_sends_meets_a_receiver() {
    check(send_to_a_receiver);
}

#[test]
fn two_choices_cross() {
    check_bounded(4, || crossing(true));
}

#[test]
fn two_choices_cross_in_opposite_order() {
    check_bounded(4, || crossing(false));
}

#[test]
fn two_choices_cross_and_time_out() {
    check_bounded(3, crossing_with_time_outs);
}

#[test]
fn a_choice_leaves_itself_alone_and_meets_a_sender() {
    check(|| itself(true));
}

#[test]
fn a_choice_leaves_itself_alone_and_meets_a_receiver() {
    check(|| itself(false));
}

#[test]
fn two_choices_of_both_sides_meet() {
    check_bounded(4, itself_twice);
}

#[test]
fn a_choice_of_both_sides_twice_leaves_itself_alone_and_meets_a_sender() {
    check_bounded(4, itself_again);
}

#[test]
fn two_futures_of_both_sides_meet() {
    check_bounded(4, futures_of_both_sides);
}

#[test]
fn a_choice_that_takes_others_offers_for_its_own_is_caught() {
    must_fail(Broken::OwnYoungest, futures_of_both_sides);
}

#[test]
fn a_choice_times_out_while_a_peer_comes() {
    check_bounded(4, times_out);
}

#[test]
fn a_choice_times_out_between_two_peers() {
    check_bounded(2, times_out_between_two);
}

#[test]
fn a_peer_goes_while_a_choice_looks_for_it() {
    check_bounded(4, a_peer_is_on_its_way_out);
}

#[test]
fn a_choice_meets_one_who_waits() {
    check_bounded(4, meets_one_who_waits);
}

#[test]
fn a_channel_of_a_choice_is_closed() {
    check_bounded(2, disconnects);
}

#[test]
fn a_channel_is_closed_while_choices_cross() {
    check_bounded(1, disconnects_while_claimed);
}

#[test]
fn three_choices_in_a_ring() {
    check_bounded(1, ring);
}

#[test]
fn a_peer_that_does_not_synch_is_caught() {
    must_fail(Broken::PeerSynch, times_out_between_two);
}

#[test]
fn a_choice_that_is_synched_too_late_is_caught() {
    must_fail(Broken::OwnSynch, meets_one_who_waits);
}

#[test]
fn a_node_that_is_not_let_go_is_caught() {
    must_fail(Broken::Stale, receive_from_two_senders);
}

#[test]
fn a_claim_that_is_not_given_back_is_caught() {
    must_fail(Broken::Unclaim, a_peer_is_on_its_way_out);
}
