//! Broadcast channels.

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
