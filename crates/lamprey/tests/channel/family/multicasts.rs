//! Multicast channels.

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
    assert_eq!((b.recv(), a.recv(), a.try_recv()), (Err(RecvError), Ok(3), Err(TryRecvError::Disconnected)));
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
