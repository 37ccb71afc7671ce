//! A transaction in a choice with other events.

use crate::common::{FOREVER, blocked, run, within};
use lamprey::event::{Event, choose, timeout};
use lamprey::stm::{TVar, atomically, atomically_evt, check, retry};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn the_transaction_wins() {
    run(1, || {
        let (tx, rx) = lamprey::channel::<u32>();
        let credit = TVar::new(0u32);
        let theirs = credit.clone();
        let host = blocked(move || {
            let pay = atomically_evt(|tx| {
                check(theirs.get(tx)? >= 5)?;
                theirs.modify(tx, |n| n - 5)
            });
            choose((rx.recv_evt().wrap(|_| "message"), pay.wrap(|()| "credit"))).sync()
        });
        atomically(|tx| credit.set(tx, 7));
        assert_eq!(host.join().unwrap(), "credit");
        assert_eq!(credit.get_now(), 2);
        assert!(tx.try_send(1).is_err(), "the receiver's offer is gone");
    });
}

#[test]
fn the_transaction_loses_and_leaves_nothing() {
    run(1, || {
        let count = Arc::new(());
        let value = TVar::new(count.clone());
        let (tx, rx) = lamprey::channel::<u32>();
        let theirs = value.clone();
        let host = blocked(move || {
            let never = atomically_evt(|tx| {
                let copy = theirs.get(tx)?;
                theirs.set(tx, copy)?;
                retry::<u32>()
            });
            choose((rx.recv_evt().wrap(|got| got.unwrap()), never)).sync()
        });
        tx.send(3).unwrap();
        assert_eq!(host.join().unwrap(), 3);
        drop(value);
        assert_eq!(Arc::strong_count(&count), 1, "a node has stayed");
    });
}

/// Of a message and a change that come at the same time one is taken, and the other is still there.
#[test]
fn one_of_two_that_come_at_once() {
    run(2, || {
        for _ in 0..100 {
            let (tx, rx) = lamprey::bounded(1);
            let place = TVar::new(0u32);
            let ours = place.clone();
            let theirs = place.clone();
            let sender = lamprey::spawn(move || tx.send(1u32).unwrap());
            let writer = lamprey::spawn(move || atomically(|tx| theirs.set(tx, 1)));
            let taken = choose((
                rx.recv_evt().wrap(|got| got.is_ok()),
                atomically_evt(|tx| {
                    check(ours.replace(tx, 0)? == 1)?;
                    Ok(false)
                }),
            ))
            .sync();
            sender.join().unwrap();
            writer.join().unwrap();
            assert_eq!((rx.try_recv().is_ok(), place.get_now()), (!taken, u32::from(taken)));
        }
    });
}

#[test]
fn a_time_limit_wins_or_is_not_needed() {
    within(FOREVER, || {
        let value = TVar::new(1);
        let never = choose((
            atomically_evt(|tx| value.get(tx).and(retry())),
            timeout(Duration::from_millis(1)).wrap(|()| 0),
        ));
        assert_eq!(never.sync(), 0);
        let at_once = choose((atomically_evt(|tx| value.get(tx)), timeout(FOREVER).wrap(|()| 0)));
        assert_eq!(at_once.sync(), 1);
        assert_eq!(atomically_evt(|tx| value.get(tx)).poll(), Some(1));
        assert_eq!(atomically_evt(|tx| value.get(tx).and(retry::<u8>())).poll(), None);
        assert_eq!(atomically_evt(|tx| value.replace(tx, 2)).sync(), 1);
    });
}

#[test]
fn two_transactions_in_a_choice() {
    run(1, || {
        let values = [TVar::new(false), TVar::new(false)];
        for index in [0, 1] {
            let theirs = values.clone();
            let host = blocked(move || {
                let wait = |n: usize| {
                    let value = theirs[n].clone();
                    atomically_evt(move |tx| check(value.replace(tx, false)?).map(|()| n))
                };
                choose((wait(0), wait(1))).sync()
            });
            atomically(|tx| values[index].set(tx, true));
            assert_eq!(host.join().unwrap(), index);
            assert!(values.iter().all(|value| !value.get_now()));
        }
    });
}
