//! The family of channels: order, close in every state, timeout against value, cancellation, and futures that
//! are dropped with a grant.

mod as_events;
mod bounded_channel;
mod broadcasts;
mod calls;
mod endings;
mod mailboxes;
mod multicasts;
mod swaps;
mod variables;
mod watches;

use crate::common::*;
use futures::poll;
use lamprey::{
    IVar, JoinHandle, MVar, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError,
    TrySendError, bounded, broadcast, mailbox, multicast, rpc, spawn, wait, watch,
};
use std::pin::pin;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LATE: Duration = Duration::from_secs(3600);

/// As those of `std::sync::mpsc`: by reference, by value, and by name.
#[test]
fn every_receiver_iterates() {
    use lamprey::broadcast::RecvError;
    run(1, || {
        let (tx, rx) = lamprey::channel();
        let sender = spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
        assert_eq!(rx.iter().next(), Some(1));
        assert_eq!((&rx).into_iter().next(), Some(2));
        assert!(rx.into_iter().eq([3]));
        sender.join().unwrap();

        let (tx, rx) = lamprey::bounded(3);
        (1..=3).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        assert_eq!(rx.iter().next(), Some(1));
        assert_eq!((&rx).into_iter().next(), Some(2));
        assert!(rx.into_iter().eq([3]));

        let (tx, mut rx) = lamprey::mailbox();
        (1..=3).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        assert_eq!(rx.iter().next(), Some(1));
        assert_eq!((&mut rx).into_iter().next(), Some(2));
        assert!(rx.into_iter().eq([3]));

        let (tx, mut rx) = lamprey::broadcast(2);
        (1..=4).for_each(|n| assert_eq!(tx.send(n), Ok(1)));
        drop(tx);
        assert_eq!(rx.iter().next(), Some(Err(RecvError::Lagged(2))));
        assert_eq!((&mut rx).into_iter().next(), Some(Ok(3)));
        assert!(rx.into_iter().eq([Ok(4)]));

        let (tx, mut rx) = lamprey::multicast();
        (1..=3).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        assert_eq!(rx.iter().next(), Some(1));
        assert_eq!((&mut rx).into_iter().next(), Some(2));
        assert!(rx.into_iter().eq([3]));

        let (client, server) = lamprey::rpc();
        let server = spawn(move || {
            let mut sum = 0;
            for (number, reply) in &server {
                sum += number;
                reply.send(sum).unwrap();
                if sum == 3 {
                    break;
                }
            }
            for (number, reply) in server {
                reply.send(number * 10).unwrap();
            }
        });
        assert_eq!([1, 2, 3].map(|n| client.call(n).unwrap()), [1, 3, 30]);
        drop(client);
        server.join().unwrap();
    });
}
