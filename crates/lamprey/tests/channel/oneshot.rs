//! The oneshot: one value, who gets it, and who hears of the other's end.

use crate::common::*;
use futures::poll;
use lamprey::{RecvError, RecvTimeoutError, SendError, TryRecvError, oneshot, spawn, wait};
use std::pin::Pin;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);

#[test]
fn the_value_comes_before_or_after_the_receiver() {
    run(1, || {
        let (tx, rx) = oneshot();
        tx.send(1).unwrap();
        assert_eq!(rx.recv(), Ok(1));
        let (tx, rx) = oneshot();
        drop(spawn(move || tx.send(2)));
        assert_eq!(rx.recv(), Ok(2));
        let (tx, mut rx) = oneshot();
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        tx.send(3).unwrap();
        assert_eq!(rx.recv_timeout(SOON), Ok(3));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(rx.recv(), Err(RecvError));
    });
}

#[test]
fn the_end_of_either_side_is_seen() {
    run(1, || {
        let (tx, rx) = oneshot::<u8>();
        drop(spawn(move || drop(tx)));
        assert_eq!(rx.recv(), Err(RecvError));
        let (tx, rx) = oneshot();
        assert!(!tx.is_closed());
        drop(rx);
        assert!(tx.is_closed());
        assert_eq!(tx.send(4), Err(SendError(4)));
    });
}

#[test]
fn every_value_is_dropped_once() {
    let drops = counter();
    let (tx, rx) = oneshot();
    tx.send(Counted(drops.clone())).unwrap();
    drop(rx);
    assert_eq!(count(&drops), 1);
    let (tx, rx) = oneshot();
    drop(rx);
    drop(tx.send(Counted(drops.clone())));
    assert_eq!(count(&drops), 2);
    drop(oneshot::<Counted>());
}

#[test]
fn parasites_and_foreign_executors_wait_for_it() {
    run(1, || {
        let (tx, rx) = oneshot();
        let parasite = lamprey::parasite(rx);
        tx.send(5).unwrap();
        assert_eq!(parasite.join().unwrap(), Ok(5));
    });
    let (tx, mut rx) = oneshot();
    let sender = std::thread::spawn(move || {
        std::thread::sleep(SOON);
        tx.send(6)
    });
    assert_eq!(futures::executor::block_on(rx.recv_async()), Ok(6));
    assert_eq!(sender.join().unwrap(), Ok(()));
}

#[test]
fn a_receive_that_is_dropped_loses_nothing() {
    wait(async {
        let (tx, mut rx) = oneshot();
        {
            let mut recv = Box::pin(rx.recv_async());
            assert!(poll!(&mut recv).is_pending());
            tx.send(7).unwrap();
        }
        assert_eq!(rx.await, Ok(7));
    });
}

#[test]
fn a_thread_takes_over_from_a_future() {
    run(1, || {
        let (tx, mut rx) = oneshot();
        wait(async { assert!(poll!(Pin::new(&mut rx)).is_pending()) });
        drop(spawn(move || tx.send(8)));
        assert_eq!(rx.recv(), Ok(8));
    });
}

#[test]
fn a_sender_waits_for_the_end_of_its_receiver() {
    run(2, || {
        for _ in 0..200 {
            let (mut tx, rx) = oneshot::<u8>();
            drop(spawn(move || drop(rx)));
            wait(tx.closed_async());
            assert!(tx.is_closed());
        }
    });
}

#[test]
fn a_sender_that_has_watched_sends_to_one_that_waits() {
    run(1, || {
        let (mut tx, rx) = oneshot();
        let receiver = spawn(move || rx.recv());
        lamprey::yield_now();
        wait(async { assert!(poll!(std::pin::pin!(tx.closed_async())).is_pending()) });
        assert!(!tx.is_closed());
        tx.send(9).unwrap();
        assert_eq!(receiver.join().unwrap(), Ok(9));
    });
}

#[test]
fn a_cancelled_receiver_is_gone() {
    within(FOREVER, || {
        let (tx, rx) = oneshot::<u8>();
        let runtime = runtime(1);
        drop(blocked_in(&runtime.handle(), move || rx.recv()));
        drop(runtime);
        assert!(tx.is_closed());
    });
}
