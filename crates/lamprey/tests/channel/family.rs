//! The family of channels: order, close in every state, timeout against value, cancellation, and futures that
//! are dropped with a grant.

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

mod bounded_channel {
    use super::*;

    #[test]
    fn values_come_in_order_and_a_sender_waits_for_a_place() {
        run(1, || {
            let (tx, rx) = bounded(2);
            assert_eq!((tx.capacity(), rx.capacity(), tx.is_empty()), (2, 2, true));
            let sender = blocked(move || (1..=5).for_each(|n| tx.send(n).unwrap()));
            assert_eq!(rx.len(), 2);
            assert_eq!(rx.iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
            sender.join().unwrap();
        });
    }

    #[test]
    fn try_calls_leave_what_is_reserved() {
        run(1, || {
            let (tx, rx) = bounded(1);
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(tx.try_send(1), Ok(()));
            assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
            let (theirs, ours) = (tx.clone(), rx.clone());
            let sender = blocked(move || theirs.send(3));
            assert_eq!(rx.try_recv(), Ok(1));
            assert_eq!(tx.try_send(4), Err(TrySendError::Full(4)), "it overtakes the sender that waits");
            sender.join().unwrap().unwrap();
            assert_eq!(rx.try_recv(), Ok(3));
            let receiver = blocked(move || ours.recv());
            assert_eq!(tx.try_send(5), Ok(()));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "it overtakes the receiver that waits");
            assert_eq!(receiver.join().unwrap(), Ok(5));
        });
    }

    #[test]
    fn who_waits_is_served_in_order_of_arrival() {
        run(1, || {
            let (tx, rx) = bounded(1);
            tx.send(0).unwrap();
            let senders: Vec<_> = (1..=4)
                .map(|n| {
                    let tx = tx.clone();
                    blocked(move || tx.send(n).unwrap())
                })
                .collect();
            assert_eq!((0..5).map(|_| rx.recv().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
            senders.into_iter().for_each(|host| host.join().unwrap());
        });
    }

    #[test]
    fn the_last_sender_leaves_its_values() {
        run(1, || {
            let (tx, rx) = bounded(4);
            let other = rx.clone();
            tx.send(1).unwrap();
            tx.send(2).unwrap();
            drop(tx);
            assert_eq!((rx.recv(), other.recv()), (Ok(1), Ok(2)));
            assert_eq!(rx.recv(), Err(RecvError));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
            assert_eq!(rx.recv_timeout(LATE), Err(RecvTimeoutError::Disconnected));
            assert_eq!(wait(rx.recv_async()), Err(RecvError));
        });
    }

    #[test]
    fn the_last_sender_wakes_all_receivers() {
        run(1, || {
            let (tx, rx) = bounded::<u8>(4);
            let hosts: Vec<_> = (0..40)
                .map(|_| {
                    let rx = rx.clone();
                    blocked(move || rx.recv())
                })
                .collect();
            drop(tx);
            assert!(hosts.into_iter().all(|host| host.join().unwrap() == Err(RecvError)));
        });
    }

    #[test]
    fn the_last_receiver_drops_what_is_there_and_wakes_all_senders() {
        run(1, || {
            let drops = counter();
            let (tx, rx) = bounded(1);
            tx.send(Counted(drops.clone())).unwrap();
            let hosts: Vec<_> = (0..40)
                .map(|_| {
                    let (tx, drops) = (tx.clone(), drops.clone());
                    blocked(move || tx.send(Counted(drops)))
                })
                .collect();
            drop(rx);
            assert_eq!(count(&drops), 1);
            assert!(hosts.into_iter().all(|host| matches!(host.join().unwrap(), Err(SendError(_)))));
            assert_eq!(count(&drops), 41);
            assert!(matches!(tx.try_send(Counted(drops.clone())), Err(TrySendError::Disconnected(_))));
            assert!(matches!(tx.send_timeout(Counted(drops), LATE), Err(SendTimeoutError::Disconnected(_))));
        });
    }

    #[test]
    fn timeouts_take_nothing() {
        run(1, || {
            let (tx, rx) = bounded(1);
            assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
            tx.send(1).unwrap();
            assert_eq!(tx.send_timeout(2, SOON), Err(SendTimeoutError::Timeout(2)));
            assert_eq!(rx.recv(), Ok(1));
            assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
            tx.send_timeout(3, LATE).unwrap();
            assert_eq!(rx.recv_timeout(LATE), Ok(3));
        });
    }

    #[test]
    fn a_receive_that_is_dropped_after_its_grant_loses_nothing() {
        run(1, || {
            let (tx, rx) = bounded(2);
            let other = rx.clone();
            wait(async {
                let mut first = Box::pin(rx.recv_async());
                assert!(poll!(&mut first).is_pending());
                let second = blocked(move || other.recv());
                tx.send(7).unwrap();
                assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
                drop(first);
                assert_eq!(second.join().unwrap(), Ok(7));
            });
        });
    }

    #[test]
    fn a_send_that_is_dropped_after_its_grant_gives_its_place_on() {
        run(1, || {
            let drops = counter();
            let (tx, rx) = bounded(1);
            tx.send(Counted(drops.clone())).unwrap();
            let (other, theirs) = (tx.clone(), drops.clone());
            wait(async {
                let mut first = Box::pin(tx.send_async(Counted(drops.clone())));
                assert!(poll!(&mut first).is_pending());
                let second = blocked(move || other.send(Counted(theirs)).is_ok());
                drop(rx.recv());
                assert_eq!(count(&drops), 1);
                drop(first);
                assert_eq!(count(&drops), 2);
                assert!(second.join().unwrap());
                assert!(rx.try_recv().is_ok());
            });
        });
    }

    #[test]
    fn a_parasite_that_is_dropped_while_it_waits_leaves_no_trace() {
        run(1, || {
            let (tx, rx) = bounded(1);
            let ours = rx.clone();
            let parasite = lamprey::parasite(async move { rx.recv_async().await });
            assert!(parasite.cancel_and_join().is_err());
            tx.send(1).unwrap();
            assert_eq!(ours.try_recv(), Ok(1));
        });
    }

    #[test]
    fn cancelled_hosts_leave_their_grants_to_others() {
        within(FOREVER, || {
            let (tx, rx) = bounded(1);
            let other = rx.clone();
            let runtime = runtime(1);
            drop(blocked_in(&runtime.handle(), move || other.recv()));
            drop(runtime);
            tx.send(5).unwrap();
            assert_eq!(rx.recv(), Ok(5));
        });
    }

    #[test]
    fn every_value_is_received_once_by_everyone_together() {
        let sum = within(FOREVER, || {
            let runtime = runtime(2);
            let (tx, rx) = bounded(3);
            let mut senders = Vec::new();
            let mut receivers = Vec::new();
            for n in 0..6_u64 {
                let (tx, rx) = (tx.clone(), rx.clone());
                let values = n * 200..(n + 1) * 200;
                match n % 3 {
                    0 => {
                        senders.push(Work::Host(
                            runtime.handle().spawn(move || values.for_each(|value| tx.send(value).unwrap())),
                        ));
                        receivers.push(Work::Host(runtime.handle().spawn(move || rx.iter().sum::<u64>())));
                    }
                    1 => {
                        senders.push(Work::Os(std::thread::spawn(move || {
                            for value in values {
                                let mut value = value;
                                while let Err(error) = tx.send_timeout(value, Duration::from_micros(50)) {
                                    value = error.into_inner();
                                }
                            }
                        })));
                        receivers.push(Work::Os(std::thread::spawn(move || rx.iter().sum::<u64>())));
                    }
                    _ => {
                        let send = async move {
                            for value in values {
                                tx.send_async(value).await.unwrap();
                            }
                        };
                        senders.push(Work::Host(
                            runtime.handle().spawn(|| lamprey::parasite(send).join().unwrap()),
                        ));
                        receivers.push(Work::Host(runtime.handle().spawn(|| {
                            let receive = async move {
                                let mut sum = 0;
                                loop {
                                    // Given up, and made again: what it was granted must not be lost.
                                    let mut recv = pin!(rx.recv_async());
                                    match poll!(&mut recv) {
                                        std::task::Poll::Pending if sum % 3 == 0 => {
                                            lamprey::yield_now_async().await
                                        }
                                        std::task::Poll::Pending => match recv.await {
                                            Ok(value) => sum += value,
                                            Err(_) => return sum,
                                        },
                                        std::task::Poll::Ready(Ok(value)) => sum += value,
                                        std::task::Poll::Ready(Err(_)) => return sum,
                                    }
                                }
                            };
                            lamprey::parasite(receive).join().unwrap()
                        })));
                    }
                }
            }
            drop((tx, rx));
            senders.into_iter().for_each(Work::join);
            receivers.into_iter().map(Work::join).sum::<u64>()
        });
        assert_eq!(sum, (0..1200).sum());
    }

    enum Work<T> {
        Host(JoinHandle<T>),
        Os(std::thread::JoinHandle<T>),
    }

    impl<T> Work<T> {
        fn join(self) -> T {
            match self {
                Self::Host(host) => host.join().unwrap(),
                Self::Os(thread) => thread.join().unwrap(),
            }
        }
    }

    #[test]
    #[should_panic(expected = "`lamprey::channel()`")]
    fn without_a_place_it_is_no_bounded_channel() {
        bounded::<u8>(0);
    }

    #[test]
    #[should_panic(expected = "no memory for so many values of 8 bytes")]
    fn more_places_than_memory_are_refused() {
        bounded::<u64>(usize::MAX / 16);
    }
}

mod mailboxes {
    use super::*;

    #[test]
    fn sends_never_wait_and_values_keep_their_order() {
        run(1, || {
            let (tx, mut rx) = mailbox();
            (0..1000).for_each(|n| tx.send(n).unwrap());
            assert_eq!((tx.len(), rx.len()), (1000, 1000));
            assert_eq!(rx.recv(), Ok(0));
            assert_eq!((tx.len(), rx.len()), (0, 999));
            (1000..1010).for_each(|n| tx.send(n).unwrap());
            drop(tx);
            assert_eq!(rx.iter().collect::<Vec<_>>(), (1..1010).collect::<Vec<_>>());
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        });
    }

    #[test]
    fn a_receiver_that_waits_is_woken() {
        run(1, || {
            let (tx, mut rx) = mailbox();
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
            let receiver = blocked(move || rx.iter().collect::<Vec<_>>());
            tx.send("one").unwrap();
            lamprey::yield_now();
            tx.send("two").unwrap();
            drop(tx);
            assert_eq!(receiver.join().unwrap(), ["one", "two"]);
        });
    }

    #[test]
    fn the_receiver_drops_all_with_it() {
        let drops = counter();
        let (tx, mut rx) = mailbox();
        (0..500).for_each(|_| tx.send(Counted(drops.clone())).unwrap());
        drop(rx.recv());
        (0..500).for_each(|_| tx.send(Counted(drops.clone())).unwrap());
        assert_eq!(count(&drops), 1);
        drop(rx);
        assert_eq!(count(&drops), 1000);
        assert!(tx.send(Counted(drops.clone())).is_err());
        assert_eq!(count(&drops), 1001);
    }

    #[test]
    fn a_receive_that_is_dropped_after_its_grant_loses_nothing() {
        run(1, || {
            let (tx, mut rx) = mailbox();
            wait(async {
                {
                    let mut first = Box::pin(rx.recv_async());
                    assert!(poll!(&mut first).is_pending());
                    tx.send(7).unwrap();
                }
                assert_eq!(rx.recv_async().await, Ok(7));
            });
        });
    }

    #[test]
    fn many_senders_and_one_receiver_lose_nothing() {
        run(2, || {
            let (tx, mut rx) = mailbox();
            for n in 0..8_u64 {
                let tx = tx.clone();
                let send = move || (0..2000).for_each(|i| tx.send((n, i)).unwrap());
                if n % 4 == 3 { drop(std::thread::spawn(send)) } else { drop(spawn(send)) }
            }
            drop(tx);
            let mut next = [0; 8];
            while let Ok((n, i)) = rx.recv() {
                assert_eq!(next[n as usize], i, "out of order");
                next[n as usize] += 1;
            }
            assert_eq!(next, [2000; 8]);
        });
    }
}

mod broadcasts {
    use super::*;
    use lamprey::broadcast::{RecvError, RecvTimeoutError, TryRecvError};

    #[test]
    fn lag_is_counted_exactly() {
        let (tx, mut rx) = broadcast(4);
        (0..4).for_each(|n| assert_eq!(tx.send(n), Ok(1)));
        assert_eq!(rx.recv(), Ok(0));
        (4..11).for_each(|n| assert_eq!(tx.send(n), Ok(1)));
        assert_eq!(rx.len(), 10);
        assert_eq!(rx.recv(), Err(RecvError::Lagged(6)));
        assert_eq!((0..4).map(|_| rx.recv().unwrap()).collect::<Vec<_>>(), [7, 8, 9, 10]);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn all_receivers_that_wait_are_woken() {
        run(1, || {
            let (tx, rx) = broadcast(2);
            let hosts: Vec<_> = (0..40)
                .map(|_| {
                    let mut rx = rx.clone();
                    blocked(move || (rx.recv(), rx.recv()))
                })
                .collect();
            drop(rx);
            assert_eq!(tx.send("now"), Ok(40));
            lamprey::yield_now();
            drop(tx);
            for host in hosts {
                assert_eq!(host.join().unwrap(), (Ok("now"), Err(RecvError::Disconnected)));
            }
        });
    }

    #[test]
    fn who_subscribes_sees_what_comes_after() {
        let (tx, rx) = broadcast(8);
        tx.send(1).unwrap();
        let (mut a, mut b) = (tx.subscribe(), rx.subscribe());
        drop(rx);
        assert_eq!(tx.receiver_count(), 2);
        tx.send(2).unwrap();
        assert_eq!((a.recv(), b.recv()), (Ok(2), Ok(2)));
        drop((a, b));
        assert_eq!(tx.send(3), Err(SendError(3)));
        let mut late = tx.subscribe();
        tx.send(4).unwrap();
        assert_eq!(wait(late.recv_async()), Ok(4));
        drop(tx);
        assert_eq!(wait(late.recv_async()), Err(RecvError::Disconnected));
    }

    #[test]
    fn values_are_dropped_once_they_leave_the_ring() {
        let drops = counter();
        let (tx, rx) = broadcast(2);
        for _ in 0..5 {
            tx.send(std::sync::Arc::new(Counted(drops.clone()))).unwrap();
        }
        assert_eq!(count(&drops), 3);
        drop(rx);
        assert_eq!(count(&drops), 5);
    }

    #[test]
    fn each_of_many_sees_all_or_hears_of_its_lag() {
        run(2, || {
            let (tx, rx) = broadcast(16);
            let hosts: Vec<_> = (0..6)
                .map(|_| {
                    let mut rx = rx.clone();
                    spawn(move || {
                        let (mut seen, mut last) = (0, None);
                        loop {
                            match rx.recv() {
                                Ok(value) => {
                                    assert!(last < Some(value));
                                    last = Some(value);
                                    seen += 1;
                                }
                                Err(RecvError::Lagged(missed)) => seen += missed,
                                Err(RecvError::Disconnected) => return seen,
                            }
                        }
                    })
                })
                .collect();
            drop(rx);
            for n in 0..5000_u64 {
                tx.send(n).unwrap();
                if n % 64 == 0 {
                    lamprey::yield_now();
                }
            }
            drop(tx);
            assert!(hosts.into_iter().all(|host| host.join().unwrap() == 5000));
        });
    }
}

mod watches {
    use super::*;

    #[test]
    fn a_change_is_seen_once_and_never_missed() {
        run(1, || {
            let (tx, mut rx) = watch(0);
            assert!(!rx.has_changed());
            assert_eq!(rx.changed_timeout(SOON), Err(RecvTimeoutError::Timeout));
            tx.send(1).unwrap();
            tx.send(2).unwrap();
            assert!(rx.has_changed());
            assert_eq!((rx.changed(), rx.get()), (Ok(()), 2));
            let waiting = blocked(move || {
                rx.changed().unwrap();
                (rx.get(), rx.changed())
            });
            tx.send(3).unwrap();
            drop(tx);
            assert_eq!(waiting.join().unwrap(), (3, Err(RecvError)));
        });
    }

    #[test]
    fn without_a_receiver_a_value_comes_back() {
        let (tx, rx) = watch(1);
        drop(rx);
        assert_eq!(tx.send(2), Err(SendError(2)));
        assert_eq!(tx.get(), 1);
        tx.send_modify(|value| *value = 5);
        assert_eq!(tx.subscribe().get(), 5);
        assert_eq!(tx.receiver_count(), 0);
    }

    #[test]
    fn no_modification_is_lost() {
        run(2, || {
            let (tx, rx) = watch(0_u64);
            let hosts: Vec<_> = (0..8)
                .map(|_| {
                    let tx = tx.clone();
                    spawn(move || {
                        (0..200).for_each(|i| {
                            tx.send_modify(|value| {
                                if i % 50 == 0 {
                                    lamprey::yield_now();
                                }
                                *value += 1;
                            });
                        });
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            assert_eq!(rx.get(), 1600);
        });
    }

    #[test]
    fn a_modification_that_panics_changes_nothing_and_ends_its_turn() {
        let (tx, mut rx) = watch(1);
        let panicked =
            std::panic::catch_unwind(|| tx.send_modify(|_| std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err());
        assert!(!rx.has_changed());
        tx.send(2).unwrap();
        assert_eq!(wait(rx.changed_async()), Ok(()));
    }
}

mod variables {
    use super::*;

    #[test]
    fn an_ivar_wakes_all_its_readers() {
        run(1, || {
            let var = IVar::new();
            let hosts: Vec<_> = (0..40)
                .map(|_| {
                    let var = var.clone();
                    blocked(move || var.get())
                })
                .collect();
            assert_eq!(var.get_timeout(SOON), None);
            assert_eq!(var.try_get(), None);
            let theirs = var.clone();
            let parasite = lamprey::parasite(async move { theirs.get_async().await });
            assert_eq!(var.put("it"), Ok(()));
            assert_eq!(var.put("no"), Err("no"));
            assert!(hosts.into_iter().all(|host| host.join().unwrap() == "it"));
            assert_eq!(parasite.join().unwrap(), "it");
            assert_eq!((var.get_ref(), format!("{var:?}").as_str()), (&"it", "IVar(Some(\"it\"))"));
        });
    }

    #[test]
    fn takers_of_an_mvar_are_served_in_order() {
        run(1, || {
            let var = MVar::empty();
            let takers: Vec<_> = (0..4)
                .map(|_| {
                    let var = var.clone();
                    blocked(move || var.take().unwrap())
                })
                .collect();
            assert_eq!(var.put(0), Ok(()));
            assert_eq!(var.try_take(), None, "it overtakes a taker that waits");
            (1..4).for_each(|n| var.put(n).unwrap());
            assert_eq!(takers.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3]);
            assert!(var.is_empty());
        });
    }

    #[test]
    fn nobody_takes_twice_before_another_who_waits() {
        run(1, || {
            let lock = MVar::new(());
            let order = MVar::new(Vec::new());
            let hosts: Vec<_> = (0..2)
                .map(|n| {
                    let (lock, order) = (lock.clone(), order.clone());
                    spawn(move || {
                        for _ in 0..5 {
                            lock.take().unwrap();
                            let mut list: Vec<i32> = order.take().unwrap();
                            list.push(n);
                            order.put(list).unwrap();
                            lamprey::yield_now();
                            lock.put(()).unwrap();
                        }
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            let order = order.take().unwrap();
            assert!(order.windows(3).all(|three| three[0] != three[1] || three[1] != three[2]), "{order:?}");
            assert_eq!(order.iter().filter(|&&n| n == 0).count(), 5);
        });
    }

    #[test]
    fn readers_of_an_mvar_go_first_and_take_nothing() {
        run(1, || {
            let var = MVar::empty();
            let (a, b, c) = (var.clone(), var.clone(), var.clone());
            let taker = blocked(move || a.take());
            let readers = [blocked(move || b.read()), blocked(move || c.read())];
            var.put(8).unwrap();
            assert!(readers.into_iter().all(|host| host.join().unwrap() == Ok(8)));
            assert_eq!(taker.join().unwrap(), Ok(8));
            assert_eq!(var.try_read(), None);
            var.put(9).unwrap();
            assert_eq!((var.try_read(), wait(var.read_async()), var.read()), (Some(9), Ok(9), Ok(9)));
        });
    }

    #[test]
    fn an_mvar_is_exchanged_in_one_step() {
        run(1, || {
            let var = MVar::new(1);
            let other = var.clone();
            let putter = blocked(move || other.put(3));
            assert_eq!(var.swap(2), Ok(1));
            assert_eq!(wait(var.swap_async(5)), Ok(2));
            assert_eq!(var.take(), Ok(5));
            putter.join().unwrap().unwrap();
            assert_eq!(var.put_timeout(4, SOON).unwrap_err().0, 4);
            assert_eq!(var.try_put(4), Err(4));
            assert_eq!(var.take(), Ok(3));
            assert!(var.take_timeout(SOON).is_err());
            assert_eq!(var.try_put(4), Ok(()));
        });
    }

    #[test]
    fn a_take_that_is_dropped_after_its_grant_gives_it_on() {
        run(1, || {
            let var = MVar::empty();
            let other = var.clone();
            wait(async {
                let mut first = Box::pin(var.take_async());
                assert!(poll!(&mut first).is_pending());
                let second = blocked(move || other.take());
                var.put(7).unwrap();
                drop(first);
                assert_eq!(second.join().unwrap(), Ok(7));
            });
        });
    }

    /// A clone that lets others run, or panics.
    struct Slow(bool);

    impl Clone for Slow {
        fn clone(&self) -> Self {
            lamprey::yield_now();
            assert!(!self.0, "this clone fails");
            Slow(self.0)
        }
    }

    #[test]
    fn a_value_that_is_being_read_is_there_afterwards() {
        run(1, || {
            let var = MVar::new(Slow(false));
            let (a, b) = (var.clone(), var.clone());
            let reader = spawn(move || a.read().is_ok());
            let taker = spawn(move || b.take().is_ok());
            assert!(reader.join().unwrap() && taker.join().unwrap());
            var.put(Slow(true)).unwrap();
            let other = var.clone();
            assert!(spawn(move || other.read()).join().is_err());
            assert!(var.try_take().is_some());
        });
    }

    #[test]
    fn as_a_lock_an_mvar_counts_right_on_two_workers() {
        run(2, || {
            let var = MVar::new(0_u64);
            let hosts: Vec<_> = (0..8)
                .map(|n| {
                    let var = var.clone();
                    spawn(move || {
                        for i in 0..500 {
                            match (i + n) % 4 {
                                0 => drop(var.read().unwrap()),
                                1 => {
                                    let _ = var
                                        .take_timeout(Duration::from_micros(20))
                                        .map(|value| var.put(value));
                                }
                                _ => {}
                            }
                            let value = var.take().unwrap();
                            var.put(value + 1).unwrap();
                        }
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            assert_eq!(var.take(), Ok(4000));
        });
    }
}

mod multicasts {
    use super::*;

    #[test]
    fn each_receiver_sees_every_message_in_order() {
        run(2, || {
            let (tx, _) = multicast();
            let hosts: Vec<_> = (0..5)
                .map(|_| {
                    let mut rx = tx.subscribe();
                    spawn(move || rx.iter().eq(0..3000))
                })
                .collect();
            (0..3000).for_each(|n| tx.send(n).unwrap());
            drop(tx);
            assert!(hosts.into_iter().all(|host| host.join().unwrap()));
        });
    }

    #[test]
    fn a_clone_reads_from_the_same_place() {
        let (tx, rx) = multicast();
        drop(rx);
        assert_eq!(tx.send(0), Err(SendError(0)));
        let mut a = tx.subscribe();
        (1..4).for_each(|n| tx.send(n).unwrap());
        assert_eq!(a.recv(), Ok(1));
        let mut b = a.clone();
        assert_eq!((a.recv(), b.try_recv(), wait(b.recv_async())), (Ok(2), Ok(2), Ok(3)));
        assert_eq!(b.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(b.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        drop(tx);
        assert_eq!(
            (b.recv(), a.recv(), a.try_recv()),
            (Err(RecvError), Ok(3), Err(TryRecvError::Disconnected))
        );
    }

    #[test]
    fn what_is_not_read_goes_with_the_last_receiver_however_much() {
        let drops = counter();
        let (tx, a) = multicast();
        let b = tx.subscribe();
        for _ in 0..100_000 {
            tx.send(std::sync::Arc::new(Counted(drops.clone()))).unwrap();
        }
        drop(a);
        assert_eq!(count(&drops), 0);
        drop(b);
        assert_eq!(count(&drops), 100_000);
    }
}

mod calls {
    use super::*;
    use lamprey::rpc::{CallError, CallTimeoutError};

    #[test]
    fn a_reply_that_is_dropped_is_an_error() {
        run(1, || {
            let (client, server) = rpc::<u8, u8>();
            let other = client.clone();
            let caller = blocked(move || other.call(1));
            let (request, reply) = server.try_recv().unwrap();
            assert_eq!(request, 1);
            drop(reply);
            assert_eq!(caller.join().unwrap(), Err(CallError::NoReply));
            drop(server);
            assert_eq!(client.call(2), Err(CallError::Disconnected(2)));
            assert_eq!(client.call_timeout(3, LATE), Err(CallTimeoutError::Disconnected(3)));
            assert_eq!(wait(client.call_async(4)), Err(CallError::Disconnected(4)));
        });
    }

    #[test]
    fn the_server_sees_that_the_client_has_given_up() {
        run(1, || {
            let (client, server) = rpc::<u8, u8>();
            assert_eq!(client.call_timeout(1, SOON), Err(CallTimeoutError::NotTaken(1)));
            assert_eq!(server.try_recv().map(drop), Err(TryRecvError::Empty));
            let worker = spawn(move || {
                let (request, mut reply) = server.recv().unwrap();
                assert!(!reply.is_abandoned());
                wait(reply.abandoned_async());
                assert!(reply.is_abandoned());
                reply.send(request).map_err(|error| error.0)
            });
            assert_eq!(client.call_timeout(2, SOON), Err(CallTimeoutError::Timeout));
            assert_eq!(worker.join().unwrap(), Err(2));
        });
    }

    #[test]
    fn several_servers_answer_many_clients() {
        run(2, || {
            let (client, server) = rpc();
            for _ in 0..3 {
                let server = server.clone();
                drop(spawn(move || {
                    server.iter().for_each(|(n, reply): (u64, _)| reply.send(n * 2).unwrap());
                }));
            }
            let hosts: Vec<_> = (0..20_u64)
                .map(|n| {
                    let client = client.clone();
                    spawn(move || match n % 2 {
                        0 => client.call(n),
                        _ => lamprey::parasite(async move { client.call_async(n).await }).join().unwrap(),
                    })
                })
                .collect();
            let sum: u64 = hosts.into_iter().map(|host| host.join().unwrap().unwrap()).sum();
            assert_eq!(sum, 380);
        });
    }
}

mod swaps {
    use super::*;
    use lamprey::SwapChannel;
    use lamprey::event::{Event, choose, timeout};

    #[test]
    fn two_who_meet_have_each_others_value() {
        run(1, || {
            let place = SwapChannel::new();
            assert_eq!(place.swap_timeout(1, SOON), Err(1));
            let other = place.clone();
            let host = blocked(move || other.swap(2));
            assert_eq!(place.swap_timeout(3, LATE), Ok(2));
            assert_eq!(host.join().unwrap(), 3);
            let other = place.clone();
            let parasite = lamprey::parasite(async move { other.swap_async(4).await });
            assert_eq!(wait(place.swap_async(5)), 4);
            assert_eq!(parasite.join().unwrap(), 5);
        });
    }

    #[test]
    fn a_swap_that_loses_a_choice_has_not_happened() {
        run(1, || {
            let place = SwapChannel::new();
            let lost = choose((place.swap_evt(1).wrap(Some), timeout(SOON).wrap(|()| None))).sync();
            assert_eq!(lost, None);
            let other = place.clone();
            let host = blocked(move || other.swap(2));
            let won = choose((place.swap_evt(3).wrap(Some), timeout(LATE).wrap(|()| None))).sync();
            assert_eq!((won, host.join().unwrap()), (Some(2), 3));
        });
    }

    #[test]
    fn swaps_of_many_lose_nothing() {
        run(2, || {
            let place = SwapChannel::new();
            let hosts: Vec<_> = (0..8_u64)
                .map(|n| {
                    let place = place.clone();
                    spawn(move || {
                        let mut mine = n;
                        for i in 0..300 {
                            mine = match (i + n) % 3 {
                                0 => match place.swap_timeout(mine, Duration::from_micros(100)) {
                                    Ok(value) | Err(value) => value,
                                },
                                _ => match place.swap_timeout(mine, SOON) {
                                    Ok(value) | Err(value) => value,
                                },
                            };
                        }
                        mine
                    })
                })
                .collect();
            let mut all: Vec<_> = hosts.into_iter().map(|host| host.join().unwrap()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..8).collect::<Vec<_>>());
        });
    }
}

mod as_events {
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
}

mod endings {
    use super::*;
    use lamprey::{JoinError, SwapChannel, oneshot};

    /// Ends a runtime while a host is in `call`, which must unwind.
    fn ends_in<T>(call: impl FnOnce() -> T + Send + 'static) {
        within(FOREVER, || {
            let runtime = runtime(1);
            let drops = counter();
            let held = Counted(drops.clone());
            let host = blocked_in(&runtime.handle(), move || {
                let _held = held;
                call();
                unreachable!("the call came back");
            });
            drop(runtime);
            assert_eq!(count(&drops), 1);
            assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
        });
    }

    #[test]
    fn a_cancelled_host_unwinds_from_every_wait() {
        let ((tx, rx), (_tx2, rx2)) = (bounded(1), bounded::<u8>(1));
        tx.send(1).unwrap();
        ends_in(move || tx.send(2).unwrap());
        assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
        ends_in(move || rx2.recv());
        let (_tx, mut rx) = mailbox::<u8>();
        ends_in(move || rx.recv());
        let (_tx, rx) = oneshot::<u8>();
        ends_in(move || rx.recv());
        let (_tx, mut rx) = broadcast::<u8>(1);
        ends_in(move || rx.recv());
        let (_tx, mut rx) = watch(1);
        ends_in(move || rx.changed());
        let (full, empty, var) = (MVar::new(1), MVar::<u8>::empty(), IVar::<u8>::new());
        let (a, b, c) = (full.clone(), empty.clone(), empty.clone());
        ends_in(move || a.put(2).unwrap());
        ends_in(move || b.take());
        ends_in(move || c.read());
        ends_in(move || var.get());
        assert_eq!((full.take(), full.is_empty(), empty.is_empty()), (Ok(1), true, true));
        let (_tx, mut rx) = multicast::<u8>();
        ends_in(move || rx.recv());
        let (client, _server) = rpc::<u8, u8>();
        ends_in(move || client.call(1));
        let place = SwapChannel::new();
        let theirs = place.clone();
        ends_in(move || theirs.swap(Some(1)));
        assert_eq!(place.swap_timeout(None, SOON), Err(None));
    }

    #[test]
    fn who_unwinds_does_not_wait() {
        struct Calls(
            MVar<u8>,
            lamprey::bounded::Receiver<u8>,
            std::sync::Arc<std::sync::atomic::AtomicUsize>,
        );
        impl Drop for Calls {
            fn drop(&mut self) {
                if self.0.take().is_err() && self.1.recv() == Err(RecvError) {
                    tick(&self.2);
                }
            }
        }
        run(1, || {
            let ((_tx, rx), done) = (bounded(1), counter());
            let calls = Calls(MVar::empty(), rx, done.clone());
            let host = spawn(move || {
                let _calls = calls;
                std::panic::resume_unwind(Box::new("on purpose"));
            });
            assert!(host.join().is_err());
            assert_eq!(count(&done), 1);
        });
    }
}

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
