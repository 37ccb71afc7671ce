//! Mailboxes.

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
