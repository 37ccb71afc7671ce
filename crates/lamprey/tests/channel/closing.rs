//! `close`: who waits is woken, what was sent before is received, and a value comes back or is received, whatever comes first.

use crate::common::{FOREVER, blocked, run};
use futures::poll;
use lamprey::event::{Event, choose, never};
use lamprey::rpc::CallError;
use lamprey::{
    Receives, RecvError, SendError, Sends, TryRecvError, bounded, broadcast, channel, channel_of, mailbox,
    multicast, oneshot, rpc, spawn, unbounded, wait, yield_now,
};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Closing by either end has the same outcome.
fn closed_by_either<S, R>(make: impl Fn() -> (S, R))
where
    S: Sends<u32> + 'static,
    R: Receives<u32> + 'static,
{
    for by_sender in [true, false] {
        let (tx, mut rx) = make();
        assert!(!tx.is_closed() && !rx.is_closed());
        let kept = rx.capacity() != Some(0);
        if kept {
            tx.send(1).unwrap();
        }
        assert!(if by_sender { tx.close() } else { rx.close() });
        assert!(!tx.close() && !rx.close(), "closed twice");
        assert!(tx.is_closed() && rx.is_closed());
        assert_eq!(tx.send(2), Err(SendError(2)));
        assert_eq!(tx.try_send(2).unwrap_err().into_inner(), 2);
        assert_eq!(tx.send_timeout(2, FOREVER).unwrap_err().into_inner(), 2);
        assert_eq!(wait(tx.send_async(2)), Err(SendError(2)));
        assert_eq!(tx.send_evt(2).sync(), Err(SendError(2)));
        assert_eq!(rx.len(), usize::from(kept));
        assert_eq!(rx.is_empty(), !kept);
        if kept {
            assert_eq!(rx.recv(), Ok(1));
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert!(rx.recv_timeout(FOREVER).is_err());
        assert_eq!(wait(rx.recv_async()), Err(RecvError));
        assert_eq!(rx.recv_evt().sync(), Err(RecvError));
    }
}

#[test]
fn every_kind_is_closed_by_either_end() {
    run(1, || {
        closed_by_either(channel);
        closed_by_either(|| bounded(2));
        closed_by_either(unbounded);
        closed_by_either(mailbox);
        closed_by_either(multicast);
        closed_by_either(|| channel_of(0));
        closed_by_either(|| channel_of(2));
        closed_by_either(|| channel_of(None));
    });
}

#[test]
fn a_broadcast_that_is_closed_ends_for_all_its_receivers() {
    run(1, || {
        let (tx, mut rx) = broadcast(2);
        let mut other = rx.clone();
        tx.send(1).unwrap();
        let waiting = blocked({
            let mut late = tx.subscribe();
            move || late.recv()
        });
        assert!(rx.close());
        assert_eq!(waiting.join().unwrap(), Err(broadcast::RecvError::Disconnected));
        assert_eq!(tx.send(2), Err(SendError(2)));
        assert_eq!((rx.recv(), other.recv()), (Ok(1), Ok(1)));
        assert!(rx.recv().is_err() && other.recv().is_err() && tx.subscribe().recv().is_err());
    });
}

#[test]
fn senders_that_wait_get_their_values_back() {
    run(1, || {
        for capacity in [0, 1] {
            let (tx, rx) = channel_of(capacity);
            (0..capacity).for_each(|_| tx.send(100).unwrap());
            let senders: Vec<_> = (0..5)
                .map(|n| {
                    let tx = tx.clone();
                    blocked(move || match n % 3 {
                        0 => tx.send(n),
                        1 => wait(tx.send_async(n)),
                        _ => choose((tx.send_evt(n), never())).sync(),
                    })
                })
                .collect();
            assert!(rx.close());
            for (n, sender) in senders.into_iter().enumerate() {
                assert_eq!(sender.join().unwrap(), Err(SendError(n)));
            }
            assert_eq!(rx.iter().count(), capacity, "what was sent before stays");
        }
    });
}

#[test]
fn receivers_that_wait_are_woken() {
    run(1, || {
        for capacity in [Some(0), Some(1), None] {
            let (tx, rx) = channel_of::<u32>(capacity);
            let receivers: Vec<_> = (0..5)
                .map(|n| {
                    let rx = rx.clone();
                    blocked(move || match n % 3 {
                        0 => rx.recv(),
                        1 => wait(rx.recv_async()),
                        _ => choose((rx.recv_evt(), never())).sync(),
                    })
                })
                .collect();
            assert!(tx.close());
            assert!(receivers.into_iter().all(|receiver| receiver.join().unwrap() == Err(RecvError)));
        }
    });
}

/// One choice offers on both sides: it is ended once.
#[test]
fn a_choice_that_waits_on_both_sides_is_ended_once() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let chooser = blocked({
            let (tx, rx) = (tx.clone(), rx.clone());
            move || {
                let sends = tx.send_evt(1).wrap(|sent| sent.is_err());
                choose((sends, rx.recv_evt().wrap(|got| got.is_err()))).sync()
            }
        });
        assert!(tx.close());
        assert!(chooser.join().unwrap());
    });
}

#[test]
fn a_value_that_was_handed_back_is_received_after_the_close() {
    run(1, || {
        let (tx, rx) = channel();
        wait(async {
            let mut receive = Box::pin(rx.recv_async());
            assert!(poll!(&mut receive).is_pending());
            tx.send(5).unwrap();
            drop(receive);
        });
        assert!(rx.close());
        assert_eq!(rx.recv(), Ok(5));
        assert_eq!(rx.recv(), Err(RecvError));
    });
}

#[test]
fn a_granted_receive_that_is_dropped_after_the_close_leaves_its_value() {
    run(1, || {
        for capacity in [Some(2), None] {
            let (tx, rx) = channel_of(capacity);
            wait(async {
                let mut receive = Box::pin(rx.recv_async());
                assert!(poll!(&mut receive).is_pending());
                tx.send(5).unwrap();
                tx.close();
                drop(receive);
            });
            assert_eq!(rx.recv(), Ok(5));
            assert_eq!(rx.recv(), Err(RecvError));
        }
    });
}

#[test]
fn a_oneshot_is_closed_by_its_receiver_until_it_has_been_sent() {
    run(1, || {
        let (mut tx, mut rx) = oneshot();
        wait(async {
            let mut closed = pin!(tx.closed_async());
            assert!(poll!(&mut closed).is_pending());
            assert!(!rx.is_closed() && rx.close() && rx.is_closed() && !rx.close());
            closed.await;
        });
        assert_eq!(tx.send(1), Err(SendError(1)));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));

        let (tx, mut rx) = oneshot();
        tx.send(Box::new(1)).unwrap();
        assert!(!rx.close() && rx.is_closed() && !rx.is_empty());
        assert_eq!(*rx.try_recv().unwrap(), 1);
        assert!(!rx.close());

        let (tx, mut rx) = oneshot::<Box<u32>>();
        drop(tx);
        assert!(!rx.close());
        assert_eq!(rx.recv(), Err(RecvError));
    });
}

#[test]
fn a_server_that_closes_replies_to_what_it_has_taken() {
    run(1, || {
        let (client, server) = rpc::<u32, u32>();
        let [taken, waits] = [1, 2].map(|n| {
            let client = client.clone();
            blocked(move || client.call(n))
        });
        let (request, reply) = server.recv().unwrap();
        assert!(server.close() && server.is_closed() && client.is_closed() && !client.close());
        assert_eq!(waits.join().unwrap(), Err(CallError::Disconnected(2)));
        assert_eq!(client.call(3), Err(CallError::Disconnected(3)));
        assert!(server.recv().is_err());
        reply.send(request * 2).unwrap();
        assert_eq!(taken.join().unwrap(), Ok(2));
    });
}

#[test]
fn ends_know_their_channel() {
    fn check<S: Clone, R: Clone>(
        make: impl Fn() -> (S, R),
        s: impl Fn(&S, &S) -> bool,
        r: impl Fn(&R, &R) -> bool,
    ) {
        let ((tx, rx), (other_tx, other_rx)) = (make(), make());
        assert!(s(&tx, &tx.clone()) && r(&rx, &rx.clone()));
        assert!(!s(&tx, &other_tx) && !r(&rx, &other_rx));
    }
    check(channel::<u8>, lamprey::Sender::same_channel, lamprey::Receiver::same_channel);
    check(|| bounded::<u8>(1), bounded::Sender::same_channel, bounded::Receiver::same_channel);
    check(unbounded::<u8>, unbounded::Sender::same_channel, unbounded::Receiver::same_channel);
    check(multicast::<u8>, multicast::Sender::same_channel, multicast::Receiver::same_channel);
    check(|| channel_of::<u8>(0), channel_of::Sender::same_channel, channel_of::Receiver::same_channel);
    let ((zero, _), (one, _)) = (channel_of::<u8>(0), channel_of::<u8>(1));
    assert!(!zero.same_channel(&one));
}

/// Every value is either received or comes back, and nothing hangs, wherever the close comes.
#[test]
fn nothing_is_lost_by_a_close_in_the_midst_of_it() {
    run(3, || {
        for round in 0..300 {
            for capacity in [Some(0), Some(1), Some(3), None] {
                let (tx, rx) = channel_of(capacity);
                let (received, returned) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
                let senders: Vec<_> = (0..3)
                    .map(|n| {
                        let (tx, returned) = (tx.clone(), returned.clone());
                        spawn(move || {
                            for turn in 0..10 {
                                let sent = match (n + turn) % 3 {
                                    0 => tx.send(Box::new(turn)),
                                    1 => wait(tx.send_async(Box::new(turn))),
                                    _ => choose((tx.send_evt(Box::new(turn)), never())).sync(),
                                };
                                returned.fetch_add(usize::from(sent.is_err()), Relaxed);
                            }
                        })
                    })
                    .collect();
                let receivers: Vec<_> = (0..3)
                    .map(|n| {
                        let (rx, received) = (rx.clone(), received.clone());
                        spawn(move || {
                            while let Ok(_value) = match n {
                                0 => rx.recv(),
                                1 => wait(rx.recv_async()),
                                _ => choose((rx.recv_evt(), never())).sync(),
                            } {
                                received.fetch_add(1, Relaxed);
                            }
                        })
                    })
                    .collect();
                (0..round % 20).for_each(|_| yield_now());
                tx.close();
                senders.into_iter().for_each(|host| host.join().unwrap());
                receivers.into_iter().for_each(|host| host.join().unwrap());
                assert!(rx.try_recv().is_err(), "received by nobody");
                assert_eq!(received.load(Relaxed) + returned.load(Relaxed), 30);
            }
        }
    });
}
