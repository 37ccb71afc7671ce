//! `choose_all` and its hub: the caller is woken after the last part that only waits has happened, and each
//! time for a part that has more to do. No wake is lost, even if peers come while the parts are being
//! offered.

use super::choice::{Value, try_send};
use super::{Broken, cancelled, check_bounded, must_fail};
use crate::channel::channel;
use crate::events::{Event, choose_all};
use crate::sync_shim::thread;

/// Two parts that only wait.
fn plain() {
    let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel::<Value>());
    let peers =
        [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || tx.send(Box::new(value)).is_ok()));
    let all = choose_all([rx.recv_evt(), rx2.recv_evt()]).sync();
    let all: Vec<_> = all.into_iter().map(|got| *got.unwrap()).collect();
    assert_eq!(all, [1, 2]);
    assert!(peers.into_iter().all(|peer| peer.join().unwrap()));
}

/// One part that only waits, and one with a wrap.
fn mixed() {
    let ((tx, rx), (tx2, rx2)) = (channel::<Value>(), channel::<Value>());
    let peers =
        [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || tx.send(Box::new(value)).is_ok()));
    let all = choose_all((rx.recv_evt(), rx2.recv_evt().wrap(|got| got))).sync();
    assert!(all.into_iter().all(|got| got.is_ok()));
    assert!(peers.into_iter().all(|peer| peer.join().unwrap()));
}

/// The caller is cancelled while both peers come: it has both values, or a value that was given is there for
/// the next receiver.
fn interrupted() {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel());
    let keep = (tx.clone(), tx2.clone());
    let peers = [(tx, 1), (tx2, 2)].map(|(tx, value)| thread::spawn(move || try_send(&tx, value)));
    let all = cancelled(|| choose_all([rx.recv_evt(), rx2.recv_evt()]).sync());
    let got = all.map_or(0, |all| all.into_iter().filter(Result::is_ok).count());
    let sent: u32 = peers.map(|peer| peer.join().unwrap()).iter().sum();
    let left = [rx.try_recv(), rx2.try_recv()].iter().filter(|got| got.is_ok()).count();
    assert_eq!(sent as usize, got + left);
    assert!(got == 0 || got == 2, "half of it was returned");
    drop(keep);
}

#[test]
fn the_last_of_two_wakes_the_caller() {
    check_bounded(2, plain);
}

#[test]
fn one_that_has_more_to_do_wakes_the_caller_too() {
    check_bounded(1, mixed);
}

#[test]
fn a_choose_all_is_cancelled_between_two_peers() {
    check_bounded(2, interrupted);
}

#[test]
fn a_caller_that_does_not_say_who_it_is_is_caught() {
    must_fail(Broken::HubCaller, mixed);
}

#[test]
fn wakers_that_do_not_acquire_what_the_others_did_are_caught() {
    must_fail(Broken::ForeignOrder, plain);
}
