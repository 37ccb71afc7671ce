//! Weak senders: they do not keep a channel open, and become senders for as long as there is one.

use crate::common::{FOREVER, blocked, run, within};
use lamprey::{RecvError, SendError, actor, bounded, mailbox, spawn, unbounded, yield_now};
use std::sync::Arc;

/// Each test for every kind that has weak senders.
macro_rules! kinds {
    ($($kind:ident: $make:expr),+) => {$(
        mod $kind {
            use super::*;

            #[test]
            fn a_weak_sender_does_not_keep_the_channel_open() {
                run(1, || {
                    let (tx, rx) = $make;
                    let (weak, clone) = (tx.downgrade(), tx.clone().downgrade());
                    assert!(weak.same_channel(&clone) && weak.upgrade().unwrap().same_channel(&tx));
                    tx.send(Arc::new(1)).unwrap();
                    drop(tx);
                    #[allow(unused_mut, reason = "some receive by a shared reference")]
                    let mut rx = rx;
                    assert_eq!(rx.recv(), Ok(Arc::new(1)));
                    assert_eq!(rx.recv(), Err(RecvError));
                    assert!(weak.upgrade().is_none() && clone.clone().upgrade().is_none());
                });
            }

            #[test]
            fn the_last_sender_wakes_who_receives_though_a_weak_one_is_left() {
                run(2, || {
                    let (tx, rx) = $make;
                    let weak = tx.downgrade();
                    let waiting = blocked(move || {
                        #[allow(unused_mut, reason = "some receive by a shared reference")]
                        let mut rx = rx;
                        rx.recv()
                    });
                    let upgraded = weak.upgrade().unwrap();
                    drop(tx);
                    upgraded.send(Arc::new(2)).unwrap();
                    assert_eq!(waiting.join().unwrap(), Ok(Arc::new(2)));
                    drop(upgraded);
                    assert!(weak.upgrade().is_none());
                });
            }

            #[test]
            fn a_sender_of_a_closed_channel_or_without_receivers_is_one_whose_sends_fail() {
                let (tx, rx) = $make;
                let weak = tx.downgrade();
                tx.send(Arc::new(1)).unwrap();
                tx.close();
                assert_eq!(weak.upgrade().unwrap().send(Arc::new(3)), Err(SendError(Arc::new(3))));
                drop((tx, rx));
                assert!(weak.upgrade().is_none());

                let (tx, rx) = $make;
                let (weak, value) = (tx.downgrade(), Arc::new(4));
                tx.send(value.clone()).unwrap();
                drop(rx);
                assert_eq!(Arc::strong_count(&value), 1, "values go with their receivers");
                assert!(weak.upgrade().unwrap().send(value).is_err());
            }

            /// What is sent by senders that were weak arrives, and the channel ends, whatever comes first.
            #[test]
            fn upgrades_race_with_the_last_sender() {
                run(2, || {
                    for round in 0..300_usize {
                        let (tx, rx) = $make;
                        let senders = [(), (), ()].map(|()| {
                            let weak = tx.downgrade();
                            spawn(move || {
                                let sends = std::iter::from_fn(|| weak.upgrade()?.send(Arc::new(1)).ok());
                                sends.take(50).inspect(|()| yield_now()).count()
                            })
                        });
                        let receiver = spawn(move || {
                            #[allow(unused_mut, reason = "some receive by a shared reference")]
                            let mut rx = rx;
                            rx.iter().count()
                        });
                        (0..round % 60).for_each(|_| yield_now());
                        drop(tx);
                        let sent: usize = senders.map(|sender| sender.join().unwrap()).iter().sum();
                        assert_eq!(receiver.join().unwrap(), sent);
                    }
                });
            }
        }
    )+};
}

kinds!(of_bounded: bounded::<Arc<u32>>(2), of_unbounded: unbounded::<Arc<u32>>(), of_mailbox: mailbox::<Arc<u32>>());

/// A full channel: the sender that was weak waits as any other.
#[test]
fn a_sender_that_was_weak_waits_for_room() {
    run(1, || {
        let (tx, rx) = bounded(1);
        tx.send(1).unwrap();
        let (weak, held) = (tx.downgrade(), rx.clone());
        let waiting = blocked(move || weak.upgrade().unwrap().send(2));
        drop(tx);
        assert_eq!(held.iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(waiting.join().unwrap(), Ok(()));
    });
}

#[test]
fn an_actor_with_a_weak_address_of_its_own_ends_with_its_users() {
    for (address, mut inbox) in [actor::inbox::<u32>(), actor::bounded_inbox(4)] {
        within(FOREVER, move || {
            lamprey::run(move || {
                let me = address.downgrade();
                let host = spawn(move || {
                    inbox.run(|inbox| {
                        let counts = inbox.iter().inspect(|&n| {
                            if n > 0 {
                                me.upgrade().into_iter().for_each(|me| me.tell(n - 1).unwrap());
                            }
                        });
                        counts.count()
                    })
                });
                address.tell(3).unwrap();
                assert!(address.downgrade().upgrade().is_some());
                drop(address);
                assert!((1..=4).contains(&host.join().unwrap().unwrap()));
            });
        });
    }
}
