//! Bounded channels.

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
                    senders
                        .push(Work::Host(runtime.handle().spawn(|| lamprey::parasite(send).join().unwrap())));
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
    assert_eq!(sum, (0..1200).sum::<u64>());
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

/// A future that was granted a place sends while a thread waits to receive: the place that the receiver empties is for
/// the sender that waits behind the future.
#[test]
fn a_value_handed_to_a_receiver_leaves_its_place_to_the_next_sender() {
    crate::common::runtime(1).run(|| {
        let (tx, rx) = lamprey::bounded(1);
        tx.send(0).unwrap();
        let mut first = Box::pin(tx.send_async(1));
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(first.as_mut().poll(context).is_pending());
        let behind = tx.clone();
        let second = lamprey::spawn(move || behind.send(2));
        lamprey::yield_now();
        assert_eq!(rx.recv(), Ok(0)); // the place is granted to the future
        let other = rx.clone();
        let other = lamprey::spawn(move || other.recv());
        lamprey::yield_now();
        assert!(first.as_mut().poll(context).is_ready());
        assert_eq!(other.join().unwrap(), Ok(1));
        assert_eq!(rx.recv_timeout(std::time::Duration::from_secs(60)), Ok(2));
        second.join().unwrap().unwrap();
    });
}
