//! Channels of every kind in events.

use super::*;
use lamprey::event::{Event, choose, prefer, timeout};
use lamprey::oneshot;

#[test]
fn what_loses_a_choice_is_still_there() {
    run(1, || {
        let ((tx, rx), (tx2, mut rx2)) = (bounded(1), mailbox());
        tx.send(1).unwrap();
        tx2.send(2).unwrap();
        assert_eq!(prefer((rx.recv_evt(), rx2.recv_evt())).sync(), Ok(1));
        assert_eq!(prefer((rx.recv_evt(), rx2.recv_evt())).sync(), Ok(2));
        let var = MVar::new(3);
        let (tx3, mut rx3) = oneshot();
        tx3.send(4).unwrap();
        assert_eq!(
            prefer((var.take_evt().wrap(Result::ok), rx3.recv_evt().wrap(Result::ok))).sync(),
            Some(3)
        );
        assert_eq!(
            prefer((var.take_evt().wrap(Result::ok), rx3.recv_evt().wrap(Result::ok))).sync(),
            Some(4)
        );
        assert!(var.is_empty());
    });
}

#[test]
fn every_kind_wakes_a_choice_that_waits() {
    run(1, || {
        let (tx, rx) = bounded::<u8>(1);
        let (tx_mail, mut mail) = mailbox::<u8>();
        let (tx_all, mut all) = broadcast::<u8>(2);
        let (tx_watch, mut watched) = watch(0_u8);
        let (tx_many, mut many) = multicast::<u8>();
        let (var, place) = (IVar::<u8>::new(), MVar::<u8>::empty());
        let (filled, place_too) = (var.clone(), place.clone());
        let host = blocked(move || {
            let mut seen = Vec::new();
            for _ in 0..7 {
                // The IVar stays full: after it, only the others count.
                let full = var.try_get().is_some();
                let got = choose((
                    rx.recv_evt().wrap(|_| "bounded"),
                    mail.recv_evt().wrap(|_| "mailbox"),
                    all.recv_evt().wrap(|_| "broadcast"),
                    watched.changed_evt().wrap(|_| "watch"),
                    many.recv_evt().wrap(|_| "multicast"),
                    place.take_evt().wrap(|_| "mvar"),
                ));
                seen.push(if full {
                    got.sync()
                } else {
                    choose((got, var.get_evt().wrap(|_| "ivar"))).sync()
                });
            }
            seen
        });
        let sends: [&dyn Fn(); 7] = [
            &|| tx.send(1).unwrap(),
            &|| tx_mail.send(1).unwrap(),
            &|| assert_eq!(tx_all.send(1), Ok(1)),
            &|| tx_watch.send(1).unwrap(),
            &|| tx_many.send(1).unwrap(),
            &|| place_too.put(1).unwrap(),
            &|| filled.put(1).unwrap(),
        ];
        for send in sends {
            send();
            lamprey::yield_now();
        }
        let seen = host.join().unwrap();
        assert_eq!(seen, ["bounded", "mailbox", "broadcast", "watch", "multicast", "mvar", "ivar"]);
    });
}

#[test]
fn a_call_that_loses_is_abandoned() {
    run(1, || {
        let (client, server) = rpc::<u8, u8>();
        let host = spawn(move || {
            let (_, mut reply) = server.recv().unwrap();
            wait(reply.abandoned_async());
            reply.send(1).is_err()
        });
        let late = timeout(SOON).wrap(|()| None);
        assert!(choose((client.call_evt(1).wrap(Some), late)).sync().is_none());
        assert!(host.join().unwrap());
    });
}

#[test]
fn choices_of_two_receivers_account_for_every_value() {
    run(2, || {
        let ((tx, rx), (tx2, rx2)) = (bounded(2), bounded(3));
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let (rx, rx2) = (rx.clone(), rx2.clone());
                spawn(move || {
                    let mut sum = 0_u64;
                    while let Ok(value) = choose((rx.recv_evt(), rx2.recv_evt())).sync() {
                        sum += value;
                    }
                    sum + rx.iter().sum::<u64>() + rx2.iter().sum::<u64>()
                })
            })
            .collect();
        drop((rx, rx2));
        let senders = [tx, tx2].map(|tx| spawn(move || (0..2000).for_each(|n| tx.send(n).unwrap())));
        senders.into_iter().for_each(|host| host.join().unwrap());
        let sum: u64 = receivers.into_iter().map(|host| host.join().unwrap()).sum();
        assert_eq!(sum, 2 * (0..2000).sum::<u64>());
    });
}
