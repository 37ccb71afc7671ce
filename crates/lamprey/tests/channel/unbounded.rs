//! The unbounded channel, and the ends of kinds that are chosen at run time.

use crate::common::{FOREVER, blocked, run};
use futures::poll;
use lamprey::event::{Event, choose, prefer, timeout};
use lamprey::{
    Receives, RecvError, Sends, TryRecvError, bounded, broadcast, channel_of, mailbox, multicast, oneshot,
    spawn, unbounded, wait,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

#[test]
fn values_come_in_order_over_many_chunks() {
    run(1, || {
        let (tx, rx) = unbounded();
        for round in 1..5 {
            (0..1000 * round).for_each(|n| tx.send(n).unwrap());
            assert_eq!((tx.len(), rx.len()), (1000 * round, 1000 * round));
            assert!(rx.try_iter().eq(0..1000 * round));
            assert!(tx.is_empty() && rx.is_empty());
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        drop(tx);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    });
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn the_last_receiver_drops_what_is_there() {
    let drops = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = unbounded();
    let other = rx.clone();
    (0..100).for_each(|_| assert!(tx.send(Counted(drops.clone())).is_ok()));
    drop(rx);
    assert_eq!(drops.load(Relaxed), 0);
    drop(other);
    assert_eq!(drops.load(Relaxed), 100);
    assert!(tx.send(Counted(drops.clone())).is_err());
    assert_eq!(drops.load(Relaxed), 101);
}

#[test]
fn a_grant_that_is_dropped_goes_to_the_next_receiver() {
    run(1, || {
        let (tx, rx) = unbounded();
        let theirs = rx.clone();
        wait(async {
            let mut first = Box::pin(rx.recv_async());
            assert!(poll!(&mut first).is_pending());
            let second = blocked(move || theirs.recv());
            tx.send(7).unwrap();
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "it overtakes the receiver that waits");
            drop(first);
            assert_eq!(second.join().unwrap(), Ok(7));
        });
    });
}

/// A send that is not chosen has not happened.
#[test]
fn a_send_happens_when_it_is_chosen() {
    run(1, || {
        let ((a, of_a), (b, mut of_b)) = (unbounded(), mailbox());
        prefer((a.send_evt(1), b.send_evt(2))).sync().unwrap();
        assert_eq!((of_a.try_recv(), of_b.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
        let ((c, _of_c), (d, mut of_d)) = (broadcast(1), multicast());
        prefer((d.send_evt(3), c.send_evt(4).wrap(|sent| sent.map(drop)))).sync().unwrap();
        assert_eq!(of_d.try_recv(), Ok(3));
        drop(of_a);
        assert!(a.send_evt(5).sync().is_err());
    });
}

#[test]
fn a_receive_is_one_of_several_events() {
    run(1, || {
        let (tx, rx) = unbounded();
        let none = choose((rx.recv_evt().wrap(Some), timeout(Duration::from_millis(1)).wrap(|()| None)));
        assert_eq!(none.sync(), None);
        tx.send(1).unwrap();
        let some = choose((rx.recv_evt().wrap(Some), timeout(FOREVER).wrap(|()| None)));
        assert_eq!(some.sync(), Some(Ok(1)));
        tx.close();
        assert_eq!(rx.recv_evt().poll(), Some(Err(RecvError)));
    });
}

/// Each value once, in the order of its sender; no wake is lost among calls, futures, choices, time limits and cancellations.
#[test]
fn a_crowd_loses_nothing() {
    run(3, || {
        let (tx, rx) = unbounded::<usize>();
        let sum = Arc::new(AtomicUsize::new(0));
        let receivers: Vec<_> = (0..6)
            .map(|n| {
                let (rx, sum) = (rx.clone(), sum.clone());
                spawn(move || {
                    let never_comes = unbounded::<usize>();
                    loop {
                        let got = match n % 3 {
                            0 => rx.recv(),
                            1 => wait(rx.recv_async()),
                            _ => choose((rx.recv_evt(), never_comes.1.recv_evt())).sync(),
                        };
                        let Ok(value) = got else { return };
                        sum.fetch_add(value, Relaxed);
                    }
                })
            })
            .collect();
        let cancelled: Vec<_> = (0..20)
            .map(|_| {
                let (rx, sum) = (rx.clone(), sum.clone());
                spawn(move || {
                    while let Ok(value) = rx.recv() {
                        sum.fetch_add(value, Relaxed);
                    }
                })
            })
            .collect();
        let senders: Vec<_> = (0..3)
            .map(|_| {
                let tx = tx.clone();
                spawn(move || (1..=2000).for_each(|n| tx.send(n).unwrap()))
            })
            .collect();
        for host in cancelled {
            lamprey::yield_now();
            let _ = host.cancel_and_join();
        }
        senders.into_iter().for_each(|host| host.join().unwrap());
        drop(tx);
        receivers.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(sum.load(Relaxed), 3 * 2000 * 2001 / 2);
    });
}

#[test]
fn ends_of_different_kinds_are_used_alike() {
    run(1, || {
        type Ends<S, R> = (Vec<Box<S>>, Vec<Box<R>>);
        let (channels, receivers): Ends<dyn Sends<u32>, dyn Receives<u32>> = {
            let ((a, of_a), (b, of_b), (c, of_c)) = (bounded(1), unbounded(), mailbox());
            let ((d, of_d), (e, of_e)) = (multicast(), channel_of(2));
            (
                vec![Box::new(a), Box::new(b), Box::new(c), Box::new(d), Box::new(Arc::new(e))],
                vec![Box::new(of_a), Box::new(of_b), Box::new(of_c), Box::new(of_d), Box::new(of_e)],
            )
        };
        let capacities: Vec<_> = channels.iter().map(|tx| tx.capacity()).collect();
        assert_eq!(capacities, [Some(1), None, None, None, Some(2)]);
        for (n, (tx, mut rx)) in channels.into_iter().zip(receivers).enumerate() {
            assert_eq!(rx.capacity(), capacities[n]);
            assert_eq!(tx.try_send(1), Ok(()));
            assert_eq!((rx.len(), rx.try_recv()), (1, Ok(1)));
            assert_eq!(wait(tx.send_async(2)), Ok(()));
            assert_eq!(wait(rx.recv_async()), Ok(2));
            assert_eq!(tx.send_evt(3).sync(), Ok(()));
            assert_eq!(rx.recv_evt().sync(), Ok(3));
            assert_eq!(tx.send_timeout(4, FOREVER), Ok(()));
            assert_eq!(rx.recv_timeout(FOREVER), Ok(4));
            drop(tx);
            assert_eq!(rx.recv(), Err(RecvError));
        }
    });
}

#[test]
fn a_broadcast_and_a_oneshot_are_received_from_like_the_others() {
    fn all<T>(mut from: impl Receives<T>) -> Vec<T> {
        std::iter::from_fn(|| from.recv().ok()).collect()
    }
    run(1, || {
        let (tx, rx) = broadcast(2);
        (1..=3).for_each(|n| assert_eq!(tx.send(n), Ok(1)));
        drop(tx);
        assert_eq!(all(rx), [Err(broadcast::RecvError::Lagged(1)), Ok(2), Ok(3)]);
        let (tx, rx) = oneshot();
        tx.send(1).unwrap();
        assert_eq!(all(rx), [1]);
    });
}
