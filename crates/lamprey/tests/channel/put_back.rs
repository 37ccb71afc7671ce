//! A value that a receive was given when it was dropped is not lost, even if all senders have gone by then.

use crate::common::*;
use futures::poll;
use lamprey::{Receiver, RecvError, TryRecvError, channel, wait};
use std::task::Poll;
use std::thread;

/// A receiver whose sender has sent this and gone, to a receive that was dropped then.
fn put_back<T: Send>(value: T) -> Receiver<T> {
    let (tx, rx) = channel();
    wait(async {
        let mut receive = Box::pin(rx.recv_async());
        assert!(poll!(&mut receive).is_pending());
        tx.try_send(value).expect("somebody waits");
        drop(tx);
    });
    rx
}

#[test]
fn the_next_receive_has_it() {
    let rx = put_back(1);
    assert_eq!(rx.recv(), Ok(1));
    assert_eq!(rx.recv(), Err(RecvError));
    let rx = put_back(2);
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    let rx = put_back(3);
    assert_eq!(wait(rx.recv_async()), Ok(3));
    assert_eq!(wait(rx.recv_async()), Err(RecvError));
    assert_eq!(put_back(4).iter().collect::<Vec<_>>(), [4]);
}

#[test]
fn several_stay() {
    let (tx, rx) = channel();
    wait(async {
        let mut receives: Vec<_> = (0..5).map(|_| Box::pin(rx.recv_async())).collect();
        for receive in &mut receives {
            assert!(poll!(receive).is_pending());
        }
        (0..5).for_each(|n| tx.try_send(n).unwrap());
        drop(tx);
    });
    let mut values: Vec<_> = rx.iter().collect();
    values.sort_unstable();
    assert_eq!(values, [0, 1, 2, 3, 4]);
}

#[test]
fn with_the_last_receiver_it_is_dropped() {
    let drops = counter();
    let rx = put_back(Counted(drops.clone()));
    let other = rx.clone();
    drop(rx);
    assert_eq!(count(&drops), 0);
    drop(other);
    assert_eq!(count(&drops), 1);
}

#[test]
fn every_value_comes_once_while_receives_are_dropped_and_senders_go() {
    const EACH: u32 = 200;
    within(FOREVER, || {
        for _ in 0..20 {
            let (tx, rx) = channel();
            let got = counter();
            let senders: Vec<_> = (0..2)
                .map(|_| {
                    let tx = tx.clone();
                    thread::spawn(move || (0..EACH).for_each(|_| tx.send(()).unwrap()))
                })
                .collect();
            drop(tx);
            wait(async {
                loop {
                    let (mut first, mut second) = (Box::pin(rx.recv_async()), Box::pin(rx.recv_async()));
                    for receive in [&mut first, &mut second] {
                        if let Poll::Ready(Ok(())) = poll!(receive) {
                            tick(&got);
                        }
                    }
                    drop((first, second));
                    match rx.recv_async().await {
                        Ok(()) => tick(&got),
                        Err(RecvError) => break,
                    }
                }
            });
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            assert_eq!(count(&got), 2 * EACH as usize);
        }
    });
}
