//! Choices: exactly one offer commits, the others have not happened, and nacks fire exactly when their offer is not chosen.

use crate::found::{finds, holds};
use lamprey::event::{Event, always, choose, choose_all, never, prefer, timeout, with_nack};
use lamprey::{Receiver, Sender, SwapChannel, channel, sim, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_micros(20);

/// Sends 0, 1, 2, .. until nobody receives any more; returns how many were received.
fn count(tx: Sender<u32>) -> u32 {
    (0..).find(|number| tx.send(*number).is_err()).unwrap()
}

/// Receives once, from either.
fn either(one: &Receiver<u32>, other: &Receiver<u32>) -> (usize, u32) {
    choose((
        one.recv_evt().wrap(|value| (0, value.unwrap())),
        other.recv_evt().wrap(|value| (1, value.unwrap())),
    ))
    .sync()
}

#[test]
fn exactly_one_receive_commits() {
    holds(|| {
        let (a, b) = (channel(), channel());
        let senders = [a.0, b.0].map(|tx| spawn(move || count(tx)));
        let mut got = [0, 0];
        for _ in 0..6 {
            let (from, value) = either(&a.1, &b.1);
            assert_eq!(value, got[from], "a loser has lost a value");
            got[from] += 1;
        }
        drop((a.1, b.1));
        assert_eq!(senders.map(|sender| sender.join().unwrap()), got);
    });
}

/// One that sends on either channel and one that receives from either meet on one of them.
#[test]
fn choices_meet_choices() {
    holds(|| {
        let (a, b) = (channel(), channel());
        let (tx, rx) = ((a.0, b.0), (a.1, b.1));
        let senders = [1, 10].map(|each| {
            let tx = tx.clone();
            spawn(move || {
                for _ in 0..3 {
                    choose((tx.0.send_evt(each), tx.1.send_evt(each))).sync().unwrap();
                }
            })
        });
        drop(tx);
        let sum: u32 = (0..6).map(|_| either(&rx.0, &rx.1).1).sum();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        assert_eq!(sum, 33);
        assert!(rx.0.recv().is_err() && rx.1.recv().is_err());
    });
}

/// The clock of a simulation makes the limit and the send happen at one instant.
#[test]
fn a_time_limit_and_a_send_at_the_same_instant() {
    holds(|| {
        let (tx, rx) = channel();
        let sender = spawn(move || {
            lamprey::sleep(SOON);
            tx.send_timeout(1, SOON).is_ok()
        });
        let got = choose((rx.recv_evt().wrap(|value| value.is_ok()), timeout(SOON).wrap(|()| false))).sync();
        drop(rx);
        assert_eq!(sender.join().unwrap(), got, "the two disagree on whether they have met");
    });
}

/// A swap happens to both or to none, at whichever moment its partner is cancelled; a choice with a limit ends by then.
#[test]
fn a_swap_and_a_limit_while_the_partner_is_cancelled() {
    holds(|| {
        let place = SwapChannel::new();
        let (mine, theirs, limit) = (place.clone(), place, Duration::from_millis(50));
        let chooses =
            spawn(move || choose((mine.swap_evt(1).wrap(Some), timeout(limit).wrap(|()| None))).sync());
        let partner = spawn(move || theirs.swap(2));
        lamprey::yield_now();
        partner.cancel();
        let begun = sim::now();
        let both = (partner.join().ok(), chooses.join().unwrap());
        assert!(matches!(both, (Some(1), Some(2)) | (None, None)), "{both:?}");
        assert!(sim::now() - begun < 2 * limit, "the choice outlasts its limit");
    });
}

#[test]
fn a_nack_fires_exactly_if_its_offer_is_not_chosen() {
    holds(|| {
        let (a, b) = (channel::<u32>(), channel::<u32>());
        let nacked = Arc::new(AtomicU32::new(0));
        let theirs = nacked.clone();
        let (over_tx, over) = channel::<()>();
        let offer = with_nack(move |nack| {
            spawn(move || {
                // Its other end is dropped at the end of the test, when a nack would have come.
                choose((
                    nack.wrap(|()| _ = theirs.fetch_add(1, Ordering::Relaxed)),
                    over.recv_evt().wrap(drop),
                ))
                .sync();
            });
            a.1.into_recv_evt()
        });
        let senders = [spawn(move || a.0.send(0).is_ok()), spawn(move || b.0.send(1).is_ok())];
        let chosen = choose((offer, b.1.recv_evt())).sync().unwrap();
        drop(b.1);
        lamprey::sleep(SOON);
        assert_eq!(nacked.load(Ordering::Relaxed), chosen);
        let sent = senders.map(|sender| sender.join().unwrap());
        assert_eq!(sent, [chosen == 0, chosen == 1]);
        drop(over_tx);
    });
}

#[test]
fn choose_all_has_each_part_once() {
    holds(|| {
        let channels = [(); 3].map(|()| channel());
        let (tx, rx): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        let senders: Vec<_> =
            (0..).zip(tx).map(|(number, tx)| spawn(move || tx.send(number).unwrap())).collect();
        let all = choose_all(rx.iter().map(|rx| rx.recv_evt()).collect::<Vec<_>>()).sync();
        assert_eq!(all.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [0, 1, 2]);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn what_is_ready_is_chosen_and_the_first_one_preferred() {
    holds(|| {
        let (tx, rx) = channel::<u32>();
        assert_eq!(prefer((always(1), always(2), rx.recv_evt().wrap(|_| 3))).sync(), 1);
        assert!(choose((always(1), always(2))).sync() <= 2);
        assert_eq!(choose((never(), always(1))).sync_timeout(SOON), Some(1));
        assert_eq!(rx.recv_evt().poll(), None);
        drop(tx);
    });
}

/// A hand-made choice: it looks at both and then waits for one, which may be the wrong one.
#[test]
fn a_choice_made_by_hand_is_found() {
    finds("deadlock", || {
        let (a, b) = (channel(), channel::<u32>());
        let sender = spawn(move || {
            lamprey::yield_now();
            a.0.send(1).unwrap();
        });
        if let Err(lamprey::TryRecvError::Empty) = a.1.try_recv() {
            let _ = b.1.recv();
        }
        sender.join().unwrap();
        drop(b.0);
    });
}

/// Takes from one channel and gives up, though it has got something.
#[test]
fn a_value_that_a_limit_takes_away_is_found() {
    finds("a value is lost", || {
        let (tx, rx) = channel();
        let sender = spawn(move || tx.send(1).is_ok());
        let got = lamprey::with_timeout(SOON, || {
            let value = rx.recv().unwrap();
            lamprey::sleep(SOON / 2);
            value
        });
        lamprey::sleep(SOON);
        drop(rx);
        assert_eq!(sender.join().unwrap(), got.is_ok(), "a value is lost");
    });
}
